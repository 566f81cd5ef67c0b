import { formatPrice, parsePrice, type Price } from './amount.ts'
import type { DetailsField } from './rules.ts'
import { formatAt, type Month, type Ms } from './moment.ts'
import type { Seq } from './seq.ts'

/** Details of an event, beyond its eight fields (PROTOCOL.md, sections 2 and 3). Absent keys are omitted. */
export type Details = Readonly<{
  title?: string
  opensAt?: Ms
  closesAt?: Ms
  count?: number
  unlocksAt?: Ms
  reviewUntil?: Ms
  claim?: boolean
  winners?: number
  month?: Month
  paysAt?: Ms
  /** `sha256:` and 64 hex digits. */
  digest?: string
  recipients?: number
  bytes?: number
  url?: string
  price?: Price
  /** Seq of the event that a correction cancels. */
  corrects?: Seq
  reason?: string
  /** Seq of the cancelled event of the same type that this event replaces. */
  restates?: Seq
}>

/** Fields in the order of a details line (section 3, `restates` last). */
export const DETAILS_FIELDS: readonly DetailsField[] = [
  'title',
  'opensAt',
  'closesAt',
  'count',
  'unlocksAt',
  'reviewUntil',
  'claim',
  'winners',
  'month',
  'paysAt',
  'digest',
  'recipients',
  'bytes',
  'url',
  'price',
  'corrects',
  'reason',
  'restates',
]

/** Fields that are moments. Their JSON is a pair, such as `opensAt` and `opensAtMs`. */
export const MOMENT_FIELDS: ReadonlySet<DetailsField> = new Set<DetailsField>([
  'opensAt',
  'closesAt',
  'unlocksAt',
  'reviewUntil',
  'paysAt',
])

/** JSON of the details alone, without the seq. */
export function formatDetails(details: Details): string {
  const wire: Record<string, unknown> = {}
  for (const field of DETAILS_FIELDS) {
    const value = details[field]
    if (value === undefined) continue
    if (MOMENT_FIELDS.has(field)) {
      wire[field] = formatAt(value as Ms)
      wire[`${field}Ms`] = value
    } else {
      wire[field] = field === 'price' ? formatPrice(value as Price) : value
    }
  }
  return JSON.stringify(wire)
}

/** Details line: the body of `/events/{seq}/details` and a line of the month's details file. */
export function formatDetailsLine(seq: Seq, details: Details | null): string {
  return `{"seq":${seq},"details":${details === null ? 'null' : formatDetails(details)}}`
}

/** Parses details that Daybook wrote. Ignores unknown fields, so that newer logs stay readable. */
export function parseDetails(json: string): Details {
  const wire = JSON.parse(json) as Record<string, unknown>
  const details: Record<string, unknown> = {}
  for (const field of DETAILS_FIELDS) {
    const value = MOMENT_FIELDS.has(field) ? wire[`${field}Ms`] : wire[field]
    if (value === undefined) continue
    details[field] = field === 'price' ? parsePrice(value as string) : value
  }
  return details
}
