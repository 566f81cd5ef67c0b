import type { Contest, Lot, PrizeSums, Take } from '../project/contest.ts'
import type { LoyaltyOutput, LoyaltyState } from '../project/loyalty.ts'
import type { Terms, UnpaidSums } from '../project/unpaid.ts'
import { lastOf, UNPAID_SUMS } from '../project/unpaid.ts'
import type { Amount } from '../protocol/amount.ts'
import { billionths, ZERO } from '../protocol/amount.ts'
import { assert, recordOf } from '../protocol/brand.ts'
import type { Ms } from '../protocol/moment.ts'
import { msOf } from '../protocol/moment.ts'
import { contestIdOf, seqOf } from '../protocol/seq.ts'

// Contests and loyalty months are kept as JSON: amounts as decimal strings of billionths, maps as lists of pairs.

type StoredSums = readonly (readonly [kind: string, billionths: string])[]
type StoredPrize = Readonly<Record<keyof PrizeSums, string>>
type StoredContest = Omit<Contest, 'entries' | 'plays' | 'spentOnPlay' | 'poolIn' | 'poolOut' | 'prizes'> &
  Readonly<{
    entries: string
    plays: string
    spentOnPlay: string
    poolIn: StoredSums
    poolOut: StoredSums
    prizes: readonly (readonly [kind: string, sums: StoredPrize])[]
  }>
type StoredOutput = Omit<LoyaltyOutput, 'total'> & Readonly<{ total: string }>
type StoredLoyalty = Omit<LoyaltyState, 'paid' | 'outputs'> &
  Readonly<{ paid: string; outputs: readonly StoredOutput[] }>

export function formatBody(value: Contest | LoyaltyState): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return String(member)
    return member instanceof Map ? [...member] : member
  })
}

export function parseContest(body: string): Contest {
  const stored: StoredContest = JSON.parse(body)
  return {
    ...stored,
    entries: BigInt(stored.entries),
    plays: BigInt(stored.plays),
    spentOnPlay: amountOf(stored.spentOnPlay),
    poolIn: sumsOf(stored.poolIn),
    poolOut: sumsOf(stored.poolOut),
    prizes: new Map(
      stored.prizes.map(([kind, prize]): [string, PrizeSums] => [
        kind,
        {
          owed: amountOf(prize.owed),
          redeemed: amountOf(prize.redeemed),
          expired: amountOf(prize.expired),
        },
      ]),
    ),
  }
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

function msOrNull(row: Row, column: string): Ms | null {
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

const INT64_MAX = (1n << 63n) - 1n

/** A row of sums, a column each, from a statement that reads integers as `bigint`. */
export function unpaidSumsOf(row: Row): UnpaidSums {
  return recordOf(UNPAID_SUMS, (name) => {
    const sum = row[name]
    if (sum === null) return ZERO
    return typeof sum === 'bigint' ? billionths(sum) : amountOf(text(row, name))
  })
}

/** A sum in the fewest bytes, since rows that are short split few pages: null for none, an integer where one holds it. */
export function formatSum(amount: Amount): bigint | string | null {
  if (amount === ZERO) return null
  return amount <= INT64_MAX && amount >= -INT64_MAX ? amount : String(amount)
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

function sumsOf(pairs: StoredSums): ReadonlyMap<string, Amount> {
  return new Map(pairs.map(([kind, amount]) => [kind, amountOf(amount)]))
}
