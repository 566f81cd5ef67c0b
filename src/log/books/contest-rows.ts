import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import {
  type ContestState,
  outcomeOf,
  poolOf,
  type PrizeSums,
  prizeTotals,
  unpaidOf,
} from '../../project/fold/contest.ts'
import { atOf } from '../../project/answers/as-of.ts'
import { type Amount, formatAmount, parseAmount } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { formatAt, type Ms, msOf } from '../../protocol/moment.ts'
import { CONTEST_OUTCOMES, CONTEST_STATUSES, type ContestStatus } from '../../protocol/enumerations.ts'
import type { ContestWire } from '../../protocol/endpoints/contest-endpoints.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { decodeAmount, msOrNull, number, type Row, text } from '../store/codec.ts'

// A contest's row has the fields of its wire form, with amounts and counts as on the wire, so that a list of contests
// needs no bigint. `sums` has the pool and the prizes by kind, which only the contest's own ledger shows.

/** The columns that `wireOfValues` reads, in order. */
export const WIRE_COLUMNS =
  'id, title, status, opens_at, closes_at, opened_at, closed_at, paid_at, cancelled_at, outcome, pool, entries, plays, spent, owed, redeemed, expired, not_redeemed'

/** All columns in the order of `valuesOf`. */
export const CONTEST_COLUMNS: readonly string[] = [
  ...WIRE_COLUMNS.split(', '),
  'scheduled_seq',
  'last_seq',
  'sums',
]

type StoredSums = Readonly<{
  in: readonly (readonly [kind: string, amount: string])[]
  out: readonly (readonly [kind: string, amount: string])[]
  prizes: readonly (readonly [kind: string, owed: string, paid: string, expired: string])[]
}>

/** The values of a contest in the order of `CONTEST_COLUMNS`. */
export function valuesOf(contest: ContestState): readonly SQLInputValue[] {
  const prizes = prizeTotals(contest)
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
    outcomeOf(contest),
    formatAmount(poolOf(contest)),
    String(contest.entries),
    String(contest.plays),
    formatAmount(contest.spentOnPlay),
    formatAmount(prizes.owed),
    formatAmount(prizes.paid),
    formatAmount(prizes.expired),
    formatAmount(unpaidOf(prizes)),
    contest.scheduledSeq,
    contest.lastSeq,
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

/** The contest of a row with all columns. */
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
    closesAt: msOf(number(row, 'closes_at')),
    openedAt: msOrNull(row, 'opened_at'),
    closedAt: msOrNull(row, 'closed_at'),
    paidAt: msOrNull(row, 'paid_at'),
    cancelledAt: msOrNull(row, 'cancelled_at'),
    entries: BigInt(text(row, 'entries')),
    plays: BigInt(text(row, 'plays')),
    spentOnPlay: storedAmount(text(row, 'spent')),
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

/** The wire form of a contest from the values of `WIRE_COLUMNS`. */
export function wireOfValues(values: readonly SQLOutputValue[]): ContestWire {
  const [id, title, status, opensAt, closesAt, openedAt, closedAt, paidAt, cancelledAt, ...others] = values
  const [outcome, pool, entries, plays, spentOnPlay, owed, redeemed, expired, notRedeemed] = others
  const opens = msIn(opensAt)
  const closes = msIn(closesAt)
  const opened = msOrNullIn(openedAt)
  const closed = msOrNullIn(closedAt)
  const paid = msOrNullIn(paidAt)
  const cancelled = msOrNullIn(cancelledAt)
  return {
    id: integerOf(id),
    title: typeof title === 'string' ? title : null,
    status: statusOf(status),
    opensAt: formatAt(opens),
    opensAtMs: opens,
    closesAt: formatAt(closes),
    closesAtMs: closes,
    openedAt: atOf(opened),
    openedAtMs: opened,
    closedAt: atOf(closed),
    closedAtMs: closed,
    paidAt: atOf(paid),
    paidAtMs: paid,
    pool: textOf(pool),
    entries: countOf(entries),
    plays: countOf(plays),
    spentOnPlay: textOf(spentOnPlay),
    prizesOwed: textOf(owed),
    prizesRedeemed: textOf(redeemed),
    prizesExpired: textOf(expired),
    prizesNotRedeemed: textOf(notRedeemed),
    outcome: CONTEST_OUTCOMES.find((name) => name === outcome) ?? null,
    cancelledAt: atOf(cancelled),
    cancelledAtMs: cancelled,
  }
}

function statusOf(value: unknown): ContestStatus {
  const status = CONTEST_STATUSES.find((name) => name === value)
  assert(status !== undefined, 'a stored contest has a status')
  return status
}

function storedAmount(written: string): Amount {
  const amount = parseAmount(written)
  assert(amount !== undefined, 'a stored amount has nine decimals')
  return amount
}

function msIn(value: SQLOutputValue | undefined): Ms {
  return msOf(integerOf(value))
}

function msOrNullIn(value: SQLOutputValue | undefined): Ms | null {
  return value === null ? null : msIn(value)
}

function integerOf(value: SQLOutputValue | undefined): number {
  assert(typeof value === 'number', 'a column of a contest holds an integer')
  return value
}

function textOf(value: SQLOutputValue | undefined): string {
  assert(typeof value === 'string', 'a column of a contest holds text')
  return value
}

function countOf(value: SQLOutputValue | undefined): number {
  const count = Number(textOf(value))
  assert(Number.isSafeInteger(count), 'a count of a contest is a safe integer')
  return count
}
