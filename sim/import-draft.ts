import { base58 } from '@scure/base'
import { formatAt, msOf } from '../src/protocol/moment.ts'
import { MOMENT_FIELDS } from '../src/protocol/details.ts'
import type { DetailsField, EventType } from '../src/protocol/rules.ts'
import type { Random } from './random.ts'

/** What an import draft says beyond its fields; moments are written as ISO 8601 UTC. */
export type DraftDetails = Readonly<Partial<Record<DetailsField, string | number | boolean>>>

/** One line of an import file: a draft with its moment, as plain JSON. */
export type ImportDraft = Readonly<{
  ref: string
  /** ISO 8601 UTC with milliseconds; never before the line above it. */
  at: string
  type: EventType
  kind: string
  contestId?: number
  kots?: string
  tx?: string
  details?: DraftDetails
}>

/** What the door takes: the same without a moment, which the door's clock decides. */
export type PublishDraft = Omit<ImportDraft, 'at'>

const PREFIX = 'sim-'

/** All that `refOf` gives lies between the two, the first inclusive, in the order of the numbers. */
export const REFS_FROM: string = `${PREFIX}0`
export const REFS_TO: string = `${PREFIX}:`

/** The key of the simulator's nth draft, from 1. */
export function refOf(number: number): string {
  return `${PREFIX}${String(number).padStart(8, '0')}`
}

/** The number of the draft that `refOf` named; 0 for no ref. */
export function numberOf(ref: string | undefined): number {
  return ref === undefined ? 0 : Number(ref.slice(PREFIX.length))
}

/** A transaction identifier as on Solana: base58 of 64 bytes that no chain has ever seen. */
export function txOf(random: Random): string {
  return base58.encode(random.bytes(64))
}

/** A draft as the door takes it, its planned moments moved by `shiftMs`. */
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
