import type { Lot, Take } from '../../project/fold/contest.ts'
import type { LoyaltyOutput, LoyaltyState } from '../../project/fold/loyalty.ts'
import { type Amount, billionths } from '../../protocol/amount.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { StoreError } from './store.ts'

// Loyalty months are stored as JSON, with amounts as decimal strings of billionths.

type StoredOutput = Omit<LoyaltyOutput, 'total'> & Readonly<{ total: string }>
type StoredLoyalty = Omit<LoyaltyState, 'paid' | 'outputs'> &
  Readonly<{ paid: string; outputs: readonly StoredOutput[] }>

export function formatLoyalty(value: LoyaltyState): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? String(member) : member,
  )
}

/** Columns of a lot that `lotOfRow` reads. It needs no `open`, which only selects the lots of an index. */
export const LOT_COLUMNS =
  'seq, contest, kind, at, amount, unpaid, unlocks_at, review_until, held_from, claim'

export function lotOfRow(row: Row): Lot {
  return {
    seq: seqOf(number(row, 'seq')),
    contestId: contestIdOf(number(row, 'contest')),
    kind: text(row, 'kind'),
    atMs: msOf(number(row, 'at')),
    amount: decodeAmount(text(row, 'amount')),
    unpaid: decodeAmount(text(row, 'unpaid')),
    unlocksAt: msOrNull(row, 'unlocks_at'),
    reviewUntil: msOrNull(row, 'review_until'),
    heldFrom: seqOf(number(row, row['held_from'] === null ? 'seq' : 'held_from')),
    claim: number(row, 'claim') === 1,
  }
}

export function msOrNull(row: Row, column: string): Ms | null {
  return row[column] === null ? null : msOf(number(row, column))
}

export function parseLoyalty(body: string): LoyaltyState {
  const stored: StoredLoyalty = JSON.parse(body)
  return {
    ...stored,
    paid: decodeAmount(stored.paid),
    outputs: stored.outputs.map((output) => ({ ...output, total: decodeAmount(output.total) })),
  }
}

export function takeOfRow(row: Row): Take {
  return {
    seq: seqOf(number(row, 'seq')),
    lot: seqOf(number(row, 'lot')),
    amount: decodeAmount(text(row, 'amount')),
  }
}

/** A row of the store by column. */
export type Row = Readonly<Record<string, unknown>>

export function number(row: Row, column: string): number {
  const value = row[column]
  if (typeof value === 'number') return value
  throw new StoreError(`the store is damaged: the column ${column} holds no number`)
}

export function text(row: Row, column: string): string {
  const value = row[column]
  if (typeof value === 'string') return value
  throw new StoreError(`the store is damaged: the column ${column} holds no text`)
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column]
  if (value instanceof Uint8Array) return value
  throw new StoreError(`the store is damaged: the column ${column} holds no bytes`)
}

export function decodeAmount(stored: string): Amount {
  return billionths(BigInt(stored))
}
