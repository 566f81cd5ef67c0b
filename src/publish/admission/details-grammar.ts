import type { TextPlace } from '../../protocol/address-guard.ts'
import { parseDraftPrice } from '../../protocol/amount.ts'
import { type Details, DETAILS_FIELDS, MOMENT_FIELDS } from '../../protocol/details.ts'
import { DIRECTION_CONTROL, showsNothing } from '../../protocol/foreign-text.ts'
import { COUNT_MAX, REASON_CHARS_MAX, TITLE_CHARS_MAX, URL_CHARS_MAX } from '../../protocol/draft.ts'
import {
  MILLISECONDS_MIN,
  type Month,
  type Ms,
  MS_MAX,
  msOf,
  parseAt,
  parseMonth,
} from '../../protocol/moment.ts'
import type { DetailsField, Rule } from '../../protocol/rules.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'
import {
  type DraftRefusal,
  fault,
  isFault,
  isObject,
  refusal,
  refuseAddress,
  type ValueFault,
} from './refusal.ts'

type Values = Required<Details>
type Readers = { readonly [Field in DetailsField]: (value: unknown) => Values[Field] | ValueFault }
type MutableDetails = { -readonly [Field in DetailsField]?: Values[Field] }

const READERS: Readers = {
  title: (value) => readText(value, TITLE_CHARS_MAX, 'prose'),
  opensAt: readMoment,
  closesAt: readMoment,
  count: (value) => readInteger(value, 1, COUNT_MAX),
  unlocksAt: readMoment,
  reviewUntil: readMoment,
  claim: (value) => (typeof value === 'boolean' ? value : fault(value, 'must be true or false')),
  winners: readCount,
  month: readMonth,
  paysAt: readMoment,
  digest: readDigest,
  recipients: readCount,
  bytes: readCount,
  url: readUrl,
  price: (value) =>
    (typeof value === 'string' ? parseDraftPrice(value) : undefined) ??
    fault(value, 'must be a string with at most 18 digits before the point and twelve after it'),
  corrects: readSeq,
  reason: (value) => readText(value, REASON_CHARS_MAX, 'prose'),
  restates: readSeq,
}

const FIELDS: ReadonlyMap<string, DetailsField> = new Map(DETAILS_FIELDS.map((field) => [field, field]))
/** Moment fields by the key of their milliseconds, such as `opensAtMs`. */
const PAIRED: ReadonlyMap<string, DetailsField> = new Map(
  [...MOMENT_FIELDS].map((field) => [`${field}Ms`, field]),
)

/** Reads the details that a rule allows, each within its bounds; null when there are none. */
export function readDetails(value: unknown, rule: Rule): Details | null | DraftRefusal {
  if (!isObject(value)) return refusal('details', fault(value, 'must be an object'))
  const details: MutableDetails = {}
  for (const key of Object.keys(value)) {
    const field = FIELDS.get(key)
    if (isAllowed(rule, field)) {
      const wrong = readInto(details, field, value[key])
      if (wrong !== undefined) return refusal(`details.${field}`, wrong)
    } else if (!isAllowed(rule, PAIRED.get(key))) {
      return refusal('details', fault(key, `has a key that is not known here: ${allowedIn(rule)}`))
    }
  }
  const wrong = unpaired(value, details) ?? missing(details, rule) ?? backwards(details)
  return wrong ?? (Object.keys(details).length === 0 ? null : details)
}

function isAllowed(rule: Rule, field: DetailsField | undefined): field is DetailsField {
  return field !== undefined && rule.details[field] !== undefined
}

function readInto<Field extends DetailsField>(
  details: Pick<MutableDetails, Field>,
  field: Field,
  value: unknown,
): ValueFault | undefined {
  const outcome: Values[Field] | ValueFault = READERS[field](value)
  if (isFault(outcome)) return outcome
  details[field] = outcome
  return undefined
}

function allowedIn(rule: Rule): string {
  const allowed = DETAILS_FIELDS.filter((field) => rule.details[field] !== undefined)
  return allowed.length === 0 ? 'none is' : `allowed are ${allowed.join(', ')}`
}

/** Refusal of a draft that lacks a details field which its rule requires; undefined when none is missing. */
export function missing(details: Details | null, rule: Rule): DraftRefusal | undefined {
  const field = DETAILS_FIELDS.find((each) => rule.details[each] === 'must' && details?.[each] === undefined)
  return field === undefined ? undefined : refusal(`details.${field}`, fault(null, 'is required'))
}

/** Checks moments in the form of a pair, as readers get them. Both fields must exist and agree. */
function unpaired(value: Readonly<Record<string, unknown>>, details: Details): DraftRefusal | undefined {
  for (const [key, field] of PAIRED) {
    if (!Object.hasOwn(value, key)) continue
    if (details[field] === undefined)
      return refusal(`details.${key}`, fault(null, `is given without ${field}`))
    if (details[field] !== value[key])
      return refusal(
        `details.${key}`,
        fault(value[key], `must be the integer of the same moment as ${field}`),
      )
  }
  return undefined
}

function backwards({ opensAt, closesAt }: Details): DraftRefusal | undefined {
  if (opensAt === undefined || closesAt === undefined || opensAt < closesAt) return undefined
  return refusal('details.closesAt', fault(null, 'must be after opensAt'))
}

/** Reads a moment: ISO 8601 in UTC, or integer milliseconds. */
function readMoment(value: unknown): Ms | ValueFault {
  if (typeof value === 'string') return readAt(value)
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > MS_MAX)
    return fault(value, 'must be an ISO 8601 time in UTC or integer milliseconds since 1970')
  if (value > 0 && value < MILLISECONDS_MIN)
    return fault(value, 'looks like seconds: did you mean milliseconds?')
  return msOf(Object.is(value, -0) ? 0 : value)
}

/** Reads a moment in ISO 8601 in UTC. */
export function readAt(value: unknown): Ms | ValueFault {
  const ms = typeof value === 'string' ? parseAt(value) : undefined
  return ms ?? fault(value, 'must be an ISO 8601 time in UTC such as 2026-10-01T12:00:00.000Z')
}

function readMonth(value: unknown): Month | ValueFault {
  const month = typeof value === 'string' ? parseMonth(value) : undefined
  return month ?? fault(value, 'must be a month such as 2026-10')
}

const DIGEST = /^sha256:[0-9a-f]{64}$/

function readDigest(value: unknown): string | ValueFault {
  if (typeof value === 'string' && DIGEST.test(value)) return refuseAddress(value, 'tx')
  return fault(value, 'must be sha256: and 64 lower-case hex digits')
}

function readUrl(value: unknown): string | ValueFault {
  const text = readText(value, URL_CHARS_MAX, 'url')
  if (typeof text !== 'string') return text
  const isWhole = /^https?:\/\/[^\s]+$/.test(text) && URL.canParse(text)
  return isWhole ? text : fault(text, 'must be a whole URL that begins with http:// or https://')
}

function readSeq(value: unknown): Seq | ValueFault {
  const seq = readInteger(value, 1, Number.MAX_SAFE_INTEGER)
  return typeof seq === 'number' ? seqOf(seq) : seq
}

function readCount(value: unknown): number | ValueFault {
  return readInteger(value, 0, Number.MAX_SAFE_INTEGER)
}

/**
 * Reads an integer within bounds. Refuses a string of digits. Refuses −0 too, because readers cannot distinguish it
 * from 0.
 */
export function readInteger(value: unknown, min: number, max: number): number | ValueFault {
  const fits = typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
  if (fits && !Object.is(value, -0)) return value
  return fault(value, `must be an integer from ${min} to ${max}`)
}

/** Reads text for people without wallet addresses. */
function readText(value: unknown, charsMax: number, place: TextPlace): string | ValueFault {
  const text = readShown(value, charsMax)
  return typeof text === 'string' ? refuseAddress(text, place) : text
}

/** Reads visible text for people, bounded and without control characters. */
export function readShown(value: unknown, charsMax: number): string | ValueFault {
  const text = readBounded(value, charsMax)
  if (typeof text !== 'string' || !showsNothing(text)) return text
  return fault(value, 'must show something: it has only blanks or invisible characters')
}

const CONTROL = /[\p{Cc}\u2028\u2029]/u

/** Reads a string of 1 to `charsMax` characters without control characters, line separators and lone surrogates. */
export function readBounded(value: unknown, charsMax: number): string | ValueFault {
  if (typeof value !== 'string') return fault(value, 'must be a string')
  // A character outside the basic plane takes two units of the string.
  const isLong =
    value.length > charsMax && (value.length > 2 * charsMax || Array.from(value).length > charsMax)
  if (value === '' || isLong) return fault(value, `must be 1 to ${charsMax} characters`)
  if (!value.isWellFormed()) return fault(value.toWellFormed(), 'must not contain a lone surrogate')
  if (DIRECTION_CONTROL.test(value)) return fault(value, 'must not contain bidirectional control characters')
  return CONTROL.test(value) ? fault(value, 'must not contain control characters or line separators') : value
}
