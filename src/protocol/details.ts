import type { Price } from './amount.ts'
import { formatPrice, parsePrice } from './amount.ts'
import type { DetailsField } from './rules.ts'
import type { Month, Ms } from './moment.ts'
import { formatAt } from './moment.ts'
import type { Seq } from './seq.ts'

/** What some events say beyond their eight fields (spec, sections 2 and 3). Absent keys are left out. */
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
  /** Seq of a cancelled event of the same type, which this one replaces. */
  restates?: Seq
}>

/** The fields in the order in which their line is written (section 3, `restates` last). */
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

/** The fields that are moments: on the wire each is a pair, `opensAt` and `opensAtMs`. */
export const MOMENT_FIELDS: ReadonlySet<DetailsField> = new Set<DetailsField>([
  'opensAt',
  'closesAt',
  'unlocksAt',
  'reviewUntil',
  'paysAt',
])

/** The details' own JSON, without the seq around it. */
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

/** The details' line: the body of `/events/{seq}/details` and the line of the month's details file. */
export function formatDetailsLine(seq: Seq, details: Details | null): string {
  return `{"seq":${seq},"details":${details === null ? 'null' : formatDetails(details)}}`
}

/** Reads details that Daybook wrote. What it does not know is left out, so that newer logs stay readable. */
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
