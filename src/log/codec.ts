import type { Contest, Lot, PrizeSums, Take } from '../project/contest.ts'
import type { LoyaltyOutput, LoyaltyState } from '../project/loyalty.ts'
import type { Terms, UnpaidSums } from '../project/unpaid.ts'
import { UNPAID_SUMS } from '../project/unpaid.ts'
import type { Amount } from '../protocol/amount.ts'
import { billionths } from '../protocol/amount.ts'
import { assert, recordOf } from '../protocol/brand.ts'
import { seqOf } from '../protocol/seq.ts'

// Derived rows are kept as JSON: amounts as decimal strings of billionths, maps as lists of pairs.

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
type StoredLot = Omit<Lot, 'amount' | 'unpaid'> & Readonly<{ amount: string; unpaid: string }>
type StoredTerms = readonly [
  Terms['unlocksAt'],
  Terms['reviewUntil'],
  Terms['availableAt'],
  Terms['claim'],
  Terms['overpaid'],
]
type StoredOutput = Omit<LoyaltyOutput, 'total'> & Readonly<{ total: string }>
type StoredLoyalty = Omit<LoyaltyState, 'paid' | 'outputs'> &
  Readonly<{ paid: string; outputs: readonly StoredOutput[] }>

export function formatBody(value: Contest | Lot | LoyaltyState): string {
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

export function parseLot(body: string): Lot {
  const stored: StoredLot = JSON.parse(body)
  return { ...stored, amount: amountOf(stored.amount), unpaid: amountOf(stored.unpaid) }
}

/** Terms as they are found by: equal terms are the same text. */
export function formatTerms({ unlocksAt, reviewUntil, availableAt, claim, overpaid }: Terms): string {
  const stored: StoredTerms = [unlocksAt, reviewUntil, availableAt, claim, overpaid]
  return JSON.stringify(stored)
}

export function parseTerms(stored: string): Terms {
  const [unlocksAt, reviewUntil, availableAt, claim, overpaid]: StoredTerms = JSON.parse(stored)
  return { unlocksAt, reviewUntil, availableAt, claim, overpaid }
}

/** A row of sums: amounts in a column each. */
export function unpaidSumsOf(row: Row): UnpaidSums {
  return recordOf(UNPAID_SUMS, (name) => amountOf(text(row, name)))
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
