import { base58 } from '@scure/base'
import { formatAt, msOf } from '../src/protocol/moment.ts'
import { MOMENT_FIELDS } from '../src/protocol/details.ts'
import type { DetailsField, EventType } from '../src/protocol/rules.ts'
import type { Random } from './random.ts'

/** Details of an import draft; moments are ISO 8601 in UTC. */
export type DraftDetails = Readonly<Partial<Record<DetailsField, string | number | boolean>>>

/** Line of an import file: a draft with its moment, as plain JSON. */
export type ImportDraft = Readonly<{
  ref: string
  /** ISO 8601 in UTC with milliseconds; never before that of the previous line. */
  at: string
  type: EventType
  kind: string
  contestId?: number
  kots?: string
  tx?: string
  details?: DraftDetails
}>

/** Draft for the publish API, which sets the moment by its own clock. */
export type PublishDraft = Omit<ImportDraft, 'at'>

const PREFIX = 'sim-'

/** Range of the refs of `refOf`: from the first, inclusive, to the second. Their order is that of the numbers. */
export const REFS_FROM: string = `${PREFIX}0`
export const REFS_TO: string = `${PREFIX}:`

/** Ref of the nth draft of the simulator, from 1. */
export function refOf(number: number): string {
  return `${PREFIX}${String(number).padStart(8, '0')}`
}

/** Number of the draft with a ref from `refOf`; 0 without a ref. */
export function numberOf(ref: string | undefined): number {
  return ref === undefined ? 0 : Number(ref.slice(PREFIX.length))
}

/** Random transaction identifier in the form of Solana: base58 of 64 bytes. */
export function txOf(random: Random): string {
  return base58.encode(random.bytes(64))
}

/** End of the identifier of a transaction that fails on the pretend chain. */
const FAILS = 'FAiLED'

/** Random transaction identifier whose transaction fails. */
export function failingTxOf(random: Random): string {
  return txOf(random).slice(0, -FAILS.length) + FAILS
}

/** Whether the transaction fails on the pretend chain of the demonstration. */
export function isFailing(tx: string): boolean {
  return tx.endsWith(FAILS)
}

/** Draft for the publish API, with its planned moments moved by `shiftMs`. */
export function publishDraft(draft: ImportDraft, shiftMs: number): PublishDraft {
  const { at: _at, details, ...rest } = draft
  if (details === undefined) return rest
  const moved: Partial<Record<DetailsField, string | number | boolean>> = { ...details }
  for (const field of MOMENT_FIELDS) {
    const planned = details[field]
    if (planned !== undefined) moved[field] = formatAt(msOf(Date.parse(String(planned)) + shiftMs))
  }
  return { ...rest, details: moved }
}
