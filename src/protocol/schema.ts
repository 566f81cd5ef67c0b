import { recordOf } from './brand.ts'
import { DETAILS_FIELDS, MOMENT_FIELDS } from './details.ts'
import { COUNT_MAX, REASON_CHARS_MAX, TITLE_CHARS_MAX, URL_CHARS_MAX } from './draft.ts'
import { MS_MAX } from './moment.ts'
import { ENDPOINT_PATHS } from './paths.ts'
import {
  type DetailsField,
  EVENT_TYPES,
  type EventType,
  RESERVED_KINDS,
  type Rule,
  RULES,
  WORD,
} from './rules.ts'
import { type Chain, TX_FORM, TX_PATTERN } from './tx.ts'

/** JSON Schema of draft 2020-12, or a part of one. */
export type JsonSchema = Readonly<{ [keyword: string]: unknown }>

const SAFE_MAX = Number.MAX_SAFE_INTEGER
const AMOUNT = '^-?(?:0|[1-9][0-9]*)\\.[0-9]{9}$'
const NOT_NEGATIVE = '^(?:0|[1-9][0-9]*)\\.[0-9]{9}$'
const NOT_POSITIVE = '^(?:0\\.0{9}|-(?:0|[1-9][0-9]*)\\.[0-9]{9})$'
const PRICE = '^(?:0|[1-9][0-9]*)\\.[0-9]{12}$'
const MONTH = '^[0-9]{4}-(?:0[1-9]|1[0-2])$'
const AT = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$'

const NULL: JsonSchema = { type: 'null' }

const integer = (minimum: number, maximum: number, description: string): JsonSchema => ({
  type: 'integer',
  minimum,
  maximum,
  description,
})

const text = (pattern: string, description: string): JsonSchema => ({ type: 'string', pattern, description })

const bounded = (maxLength: number, description: string): JsonSchema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
})

const iso = (description: string): JsonSchema => ({ ...text(AT, description), format: 'date-time' })

/** Schema of each detail. For a moment, the schema of the first field of its pair. */
export const DETAILS_SCHEMAS: Readonly<Record<DetailsField, JsonSchema>> = {
  title: bounded(TITLE_CHARS_MAX, 'The contest’s title'),
  opensAt: iso('When the contest is planned to open'),
  closesAt: iso('When the contest is planned to close; absent while no end is announced'),
  count: integer(1, COUNT_MAX, 'Plays in this total; 1 when absent'),
  unlocksAt: iso('When the prize unlocks'),
  reviewUntil: iso('When the review hold ends'),
  claim: { type: 'boolean', description: 'Whether the prize must be claimed' },
  winners: integer(0, SAFE_MAX, 'Winners who share the prize'),
  month: text(MONTH, 'The month of the loyalty reward, yyyy-mm'),
  paysAt: iso('When the loyalty reward is planned to be paid'),
  digest: text('^sha256:[0-9a-f]{64}$', 'SHA-256 of the published file'),
  recipients: integer(0, SAFE_MAX, 'Players who receive the loyalty reward'),
  bytes: integer(0, SAFE_MAX, 'Size of the published file'),
  url: { ...bounded(URL_CHARS_MAX, 'Where the file is published'), format: 'uri', pattern: '^https?://' },
  price: text(PRICE, 'US dollars per token, twelve decimals'),
  corrects: integer(1, SAFE_MAX, 'Seq of the event that is cancelled'),
  reason: bounded(REASON_CHARS_MAX, 'Why, in words'),
  restates: integer(1, SAFE_MAX, 'Seq of a cancelled event of the same type, which this one replaces'),
}

/** Meaning of a detail, in one line. */
export function detailMeaning(field: DetailsField): string {
  return String(DETAILS_SCHEMAS[field]['description'])
}

const BASE: Readonly<Record<string, JsonSchema>> = {
  seq: integer(1, SAFE_MAX, 'Position in the log, from 1 and contiguous'),
  type: { type: 'string' },
  kind: text(WORD.source, 'Sub-kind of the event'),
  at: iso('The moment of publication, UTC'),
  atMs: integer(0, MS_MAX, 'The same moment in milliseconds since 1970'),
  contestId: { type: ['integer', 'null'], minimum: 1, maximum: SAFE_MAX, description: 'The event’s contest' },
  kots: { type: ['string', 'null'], pattern: AMOUNT, description: 'Amount of tokens, nine decimals' },
  tx: { type: ['string', 'null'], description: 'Identifier of the blockchain transaction' },
}

/**
 * JSON Schema of events of one type on one chain: the eight keys, then a branch for each kind. Details are not part of
 * the event, so their schema is under `$defs`. The `$comment` of a branch names it.
 */
function eventSchema(type: EventType, chain: Chain): JsonSchema {
  const rules = RULES.filter((rule) => rule.type === type)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    // Its path, relative to the address of the document.
    $id: ENDPOINT_PATHS.eventType.replace('{type}', type),
    title: `An event of type ${type}`,
    type: 'object',
    properties: { ...BASE, type: { const: type } },
    required: Object.keys(BASE),
    additionalProperties: false,
    oneOf: rules.map((rule) => branchOf(rule, rules, chain)),
    $defs: Object.fromEntries(rules.map((rule) => [detailsName(rule), detailsSchema(rule)])),
  }
}

/** Schema of every event type, as in the catalogue. */
export function eventSchemas(chain: Chain): Readonly<Record<EventType, JsonSchema>> {
  return recordOf(EVENT_TYPES, (type) => eventSchema(type, chain))
}

function branchOf(rule: Rule, siblings: readonly Rule[], chain: Chain): JsonSchema {
  return {
    title: `${rule.type}/${rule.kind}`,
    description: rule.meaning,
    $comment: `details: #/$defs/${detailsName(rule)}`,
    type: 'object',
    properties: {
      kind: kindSchema(rule, siblings),
      contestId: presence(rule.contestId, { type: 'integer' }),
      kots: presence(rule.kots, {
        type: 'string',
        pattern: rule.kots === 'as-corrected' ? NOT_POSITIVE : NOT_NEGATIVE,
      }),
      tx: presence(rule.tx, text(TX_PATTERN[chain], TX_FORM[chain])),
    },
  }
}

/** A fixed kind, or any word except reserved kinds and kinds with a rule of their own. */
function kindSchema(rule: Rule, siblings: readonly Rule[]): JsonSchema {
  if (rule.kind !== '*') return { const: rule.kind }
  const taken = siblings.map(({ kind }) => kind).filter((kind) => kind !== '*')
  return { type: 'string', pattern: WORD.source, not: { enum: [...new Set([...RESERVED_KINDS, ...taken])] } }
}

function presence(rule: 'must' | 'may' | 'none' | 'as-corrected', schema: JsonSchema): JsonSchema {
  if (rule === 'none') return NULL
  return rule === 'must' ? schema : { anyOf: [schema, NULL] }
}

function detailsName({ kind }: Rule): string {
  return kind === '*' ? 'details_of_other_kinds' : `details_of_${kind}`
}

/** Schema of the details of one type and kind: moments in pairs, absent keys omitted. */
function detailsSchema(rule: Rule): JsonSchema {
  const fields = DETAILS_FIELDS.filter((field) => rule.details[field] !== undefined)
  const required = fields.filter((field) => rule.details[field] === 'must')
  const pairs = fields.filter((field) => MOMENT_FIELDS.has(field))
  return {
    type: required.length === 0 ? ['object', 'null'] : 'object',
    properties: Object.fromEntries(fields.flatMap(propertiesOf)),
    required: required.flatMap((field) => (MOMENT_FIELDS.has(field) ? [field, `${field}Ms`] : [field])),
    // Both halves of a moment come together.
    dependentRequired: Object.fromEntries(
      pairs.flatMap((field) => [
        [field, [`${field}Ms`]],
        [`${field}Ms`, [field]],
      ]),
    ),
    additionalProperties: false,
  }
}

function propertiesOf(field: DetailsField): readonly (readonly [string, JsonSchema])[] {
  if (!MOMENT_FIELDS.has(field)) return [[field, DETAILS_SCHEMAS[field]]]
  return [
    [field, DETAILS_SCHEMAS[field]],
    [`${field}Ms`, integer(0, MS_MAX, 'The same moment in milliseconds since 1970')],
  ]
}
