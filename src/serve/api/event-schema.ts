import type { DetailsField, Rule } from '../../protocol/rules.ts'
import { EVENT_TYPES, RULES } from '../../protocol/rules.ts'
import type { EventType } from '../../protocol/rules.ts'
import { DETAILS_FIELDS, MOMENT_FIELDS } from '../../protocol/details.ts'
import { WORD } from '../../protocol/catalogue.ts'

/** A JSON Schema (draft 2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>

const NULL: JsonSchema = { type: 'null' }
const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, NULL] })

export const SEQ: JsonSchema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
export const AMOUNT: JsonSchema = {
  type: 'string',
  pattern: String.raw`^-?(0|[1-9]\d*)\.\d{9}$`,
  description: 'An amount of the platform token with exactly nine decimals',
}
const PRICE: JsonSchema = { type: 'string', pattern: String.raw`^(0|[1-9]\d*)\.\d{12}$` }
export const AT: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`,
  description: 'UTC, ISO 8601, millisecond precision',
}
export const AT_MS: JsonSchema = {
  type: 'integer',
  minimum: 0,
  description: 'The same moment in integer milliseconds since 1970',
}
const KIND: JsonSchema = { type: 'string', pattern: WORD.source }
const TX: JsonSchema = { type: 'string', pattern: '^[A-Za-z0-9:_-]{8,128}$' }
const COUNT: JsonSchema = { type: 'integer', minimum: 0 }
const MONTH: JsonSchema = { type: 'string', pattern: String.raw`^\d{4}-(0[1-9]|1[0-2])$` }

/** Schemas of the details that are no moments. */
const DETAILS: Readonly<Partial<Record<DetailsField, JsonSchema>>> = {
  title: { type: 'string', maxLength: 200 },
  count: COUNT,
  claim: { type: 'boolean' },
  winners: COUNT,
  month: MONTH,
  digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
  recipients: COUNT,
  bytes: COUNT,
  url: { type: 'string', maxLength: 2000 },
  price: PRICE,
  corrects: { ...SEQ, description: 'Seq of the event that this one cancels' },
  reason: { type: 'string', maxLength: 500 },
  restates: { ...SEQ, description: 'Seq of a cancelled event of the same type, which this one replaces' },
}

/** The eight keys of an event of any type, and no other. */
export const EVENT: JsonSchema = eventSchema({
  type: { enum: EVENT_TYPES },
  kind: KIND,
  contestId: orNull(SEQ),
  kots: orNull(AMOUNT),
  tx: orNull(TX),
})

/** The schema of one type's events, a branch per rule; a kind that is not fixed is any other word. */
export function typeSchema(type: EventType): JsonSchema {
  const rules = RULES.filter((rule) => rule.type === type)
  const fixed = rules.filter(({ kind }) => kind !== '*').map(({ kind }) => kind)
  const branches = rules.map((rule) => ({ title: `${type}/${rule.kind}`, ...ruleSchema(rule, fixed) }))
  return branches.length === 1 ? (branches[0] ?? {}) : { oneOf: branches }
}

/** The schema of the details that a rule allows; null when an event has none. */
export function detailsSchema(rule: Rule): JsonSchema {
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  for (const field of DETAILS_FIELDS) {
    const asks = rule.details[field]
    if (asks === undefined) continue
    const names = MOMENT_FIELDS.has(field) ? [field, `${field}Ms`] : [field]
    properties[field] = DETAILS[field] ?? AT
    if (names[1] !== undefined) properties[names[1]] = AT_MS
    if (asks === 'must') required.push(...names)
  }
  const object = { type: 'object', properties, required }
  return required.length > 0 ? object : orNull(object)
}

function ruleSchema(rule: Rule, fixed: readonly string[]): JsonSchema {
  const kind: JsonSchema =
    rule.kind !== '*' ? { const: rule.kind } : fixed.length === 0 ? KIND : { ...KIND, not: { enum: fixed } }
  return eventSchema({
    type: { const: rule.type },
    kind,
    contestId: column(rule.contestId, SEQ),
    kots: column(rule.kots, AMOUNT),
    tx: column(rule.tx, TX),
  })
}

function column(asks: Rule['kots'] | Rule['tx'], schema: JsonSchema): JsonSchema {
  switch (asks) {
    case 'must':
      return schema
    case 'none':
      return NULL
    case 'may':
    case 'as-corrected':
      return orNull(schema)
  }
}

function eventSchema(
  columns: Readonly<Record<'type' | 'kind' | 'contestId' | 'kots' | 'tx', JsonSchema>>,
): JsonSchema {
  const { type, kind, contestId, kots, tx } = columns
  const properties = { seq: SEQ, type, kind, at: AT, atMs: AT_MS, contestId, kots, tx }
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}
