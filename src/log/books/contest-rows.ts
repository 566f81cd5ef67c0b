import type { SQLInputValue } from 'node:sqlite'
import { type ContestState, outcomeOf, type PrizeSums } from '../../project/fold/contest.ts'
import type { Amount } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { msOf } from '../../protocol/moment.ts'
import { CONTEST_STATUSES, type ContestStatus } from '../../protocol/enumerations.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { decodeAmount, msOrNull, number, type Row, text } from '../store/codec.ts'

// `sums` has the pool and the prizes by kind. Amounts are decimal strings of billionths.

/** All columns in the order of `valuesOf`. */
export const CONTEST_COLUMNS = [
  'id',
  'title',
  'status',
  'opens_at',
  'closes_at',
  'opened_at',
  'closed_at',
  'paid_at',
  'cancelled_at',
  'entries',
  'plays',
  'spent',
  'scheduled_seq',
  'last_seq',
  'outcome',
  'sums',
] as const

type StoredSums = Readonly<{
  in: readonly (readonly [kind: string, amount: string])[]
  out: readonly (readonly [kind: string, amount: string])[]
  prizes: readonly (readonly [kind: string, owed: string, paid: string, expired: string])[]
}>

/** The values of a contest in the order of `CONTEST_COLUMNS`. */
export function valuesOf(contest: ContestState): readonly SQLInputValue[] {
  return [
    contest.id,
    contest.title,
    contest.status,
    contest.opensAt,
    contest.closesAt,
    contest.openedAt,
    contest.closedAt,
    contest.paidAt,
    contest.cancelledAt,
    String(contest.entries),
    String(contest.plays),
    String(contest.spentOnPlay),
    contest.scheduledSeq,
    contest.lastSeq,
    outcomeOf(contest),
    formatSums(contest),
  ]
}

function formatSums({ poolIn, poolOut, prizes }: ContestState): string {
  const pairs = (sums: ReadonlyMap<string, Amount>): StoredSums['in'] =>
    [...sums].map(([kind, amount]) => [kind, String(amount)])
  const stored: StoredSums = {
    in: pairs(poolIn),
    out: pairs(poolOut),
    prizes: [...prizes].map(([kind, { owed, paid, expired }]) => [
      kind,
      String(owed),
      String(paid),
      String(expired),
    ]),
  }
  return JSON.stringify(stored)
}

/** The contest of a row. */
export function contestOfRow(row: Row): ContestState {
  const sums: StoredSums = JSON.parse(text(row, 'sums'))
  const mapOf = (pairs: StoredSums['in']): ReadonlyMap<string, Amount> =>
    new Map(pairs.map(([kind, amount]) => [kind, decodeAmount(amount)]))
  return {
    id: contestIdOf(number(row, 'id')),
    title: row['title'] === null ? null : text(row, 'title'),
    status: statusOf(row['status']),
    scheduledSeq: seqOf(number(row, 'scheduled_seq')),
    lastSeq: seqOf(number(row, 'last_seq')),
    opensAt: msOf(number(row, 'opens_at')),
    closesAt: msOrNull(row, 'closes_at'),
    openedAt: msOrNull(row, 'opened_at'),
    closedAt: msOrNull(row, 'closed_at'),
    paidAt: msOrNull(row, 'paid_at'),
    cancelledAt: msOrNull(row, 'cancelled_at'),
    entries: BigInt(text(row, 'entries')),
    plays: BigInt(text(row, 'plays')),
    spentOnPlay: decodeAmount(text(row, 'spent')),
    poolIn: mapOf(sums.in),
    poolOut: mapOf(sums.out),
    prizes: new Map(
      sums.prizes.map(([kind, owed, paid, expired]): [string, PrizeSums] => [
        kind,
        { owed: decodeAmount(owed), paid: decodeAmount(paid), expired: decodeAmount(expired) },
      ]),
    ),
  }
}

function statusOf(value: unknown): ContestStatus {
  const status = CONTEST_STATUSES.find((name) => name === value)
  assert(status !== undefined, 'a stored contest has a status')
  return status
}
