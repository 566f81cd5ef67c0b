import type { Lot, Take } from '../project/contest.ts'
import type { LoyaltyOutput, LoyaltyState } from '../project/loyalty.ts'
import type { Terms } from '../project/unpaid.ts'
import { lastOf } from '../project/unpaid.ts'
import type { Amount } from '../protocol/amount.ts'
import { billionths } from '../protocol/amount.ts'
import { assert } from '../protocol/brand.ts'
import type { Ms } from '../protocol/moment.ts'
import { msOf } from '../protocol/moment.ts'
import { contestIdOf, seqOf } from '../protocol/seq.ts'

// Loyalty months are kept as JSON: amounts as decimal strings of billionths.

type StoredOutput = Omit<LoyaltyOutput, 'total'> & Readonly<{ total: string }>
type StoredLoyalty = Omit<LoyaltyState, 'paid' | 'outputs'> &
  Readonly<{ paid: string; outputs: readonly StoredOutput[] }>

export function formatLoyalty(value: LoyaltyState): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? String(member) : member,
  )
}

/** A lot's own columns; `terms`, which its index has while it is open, follow from them. */
export const LOT_COLUMNS = 'seq, contest, kind, at, amount, unpaid, unlocks_at, review_until, claim'

export function lotOf(row: Row): Lot {
  return {
    seq: seqOf(number(row, 'seq')),
    contestId: contestIdOf(number(row, 'contest')),
    kind: text(row, 'kind'),
    atMs: msOf(number(row, 'at')),
    amount: amountOf(text(row, 'amount')),
    unpaid: amountOf(text(row, 'unpaid')),
    unlocksAt: msOrNull(row, 'unlocks_at'),
    reviewUntil: msOrNull(row, 'review_until'),
    claim: number(row, 'claim') === 1,
  }
}

export function msOrNull(row: Row, column: string): Ms | null {
  return row[column] === null ? null : msOf(number(row, column))
}

/** Moments inside of terms are written in as few characters as digits and letters allow. */
const TERMS_BASE = 36

/** Terms as they are found by: equal terms are the same text, and it is short, since an index has one for each lot. */
export function formatTerms({ unlocksAt, reviewUntil, availableAt, claim, overpaid }: Terms): string {
  // With either of the others, `availableAt` follows from them.
  const own = unlocksAt === null && reviewUntil === null ? availableAt : null
  const moments = [unlocksAt, reviewUntil, own].map((ms) => ms?.toString(TERMS_BASE) ?? '')
  return [...moments, `${claim ? 'c' : ''}${overpaid ? 'o' : ''}`].join(',')
}

export function parseTerms(stored: string): Terms {
  const [unlocks = '', review = '', own = '', flags = ''] = stored.split(',')
  const momentOf = (ms: string): Ms | null => (ms === '' ? null : msOf(Number.parseInt(ms, TERMS_BASE)))
  const unlocksAt = momentOf(unlocks)
  const reviewUntil = momentOf(review)
  const availableAt = momentOf(own) ?? lastOf(unlocksAt, reviewUntil)
  assert(availableAt !== null, 'stored terms have a moment')
  return {
    unlocksAt,
    reviewUntil,
    availableAt,
    claim: flags.includes('c'),
    overpaid: flags.includes('o'),
  }
}

export function parseLoyalty(body: string): LoyaltyState {
  const stored: StoredLoyalty = JSON.parse(body)
  return {
    ...stored,
    paid: amountOf(stored.paid),
    outputs: stored.outputs.map((output) => ({ ...output, total: amountOf(output.total) })),
  }
}

export function takeOf(row: Row): Take {
  return {
    seq: seqOf(number(row, 'seq')),
    lot: seqOf(number(row, 'lot')),
    amount: amountOf(text(row, 'amount')),
  }
}

/** A row as the store gives it. */
export type Row = Readonly<Record<string, unknown>>

export function number(row: Row, column: string): number {
  const value = row[column]
  assert(typeof value === 'number', `column ${column} holds a number`)
  return value
}

export function text(row: Row, column: string): string {
  const value = row[column]
  assert(typeof value === 'string', `column ${column} holds text`)
  return value
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column]
  assert(value instanceof Uint8Array, `column ${column} holds bytes`)
  return value
}

export function amountOf(stored: string): Amount {
  return billionths(BigInt(stored))
}
