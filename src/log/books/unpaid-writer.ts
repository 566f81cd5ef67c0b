import type { DatabaseSync } from 'node:sqlite'
import type { Lot } from '../../project/fold/contest.ts'
import type { Changes } from '../../project/fold/fold.ts'
import type { RowChange } from '../../project/fold/unpaid-groups.ts'
import {
  addSums,
  areZero,
  bucketsBefore,
  formatTerms,
  NO_SUMS,
  type SumBucket,
  sumsCompleteFrom,
  sumsOf,
  UNPAID_SUMS,
  type UnpaidSums,
} from '../../project/fold/unpaid.ts'
import { subtract, ZERO } from '../../protocol/amount.ts'
import type { Ms } from '../../protocol/moment.ts'
import { ALL_CONTESTS, formatSum, unpaidSumsOf } from './unpaid-columns.ts'

type ChangedLots = Pick<Changes, 'lots' | 'holds' | 'unpaid' | 'lotMoments'>

/** Writes lots, holds and unpaid prizes. */
type UnpaidWriter = Readonly<{
  /** Writes the changes of a batch; `at` is the moment of its last event. */
  write(changed: ChangedLots, at: Ms): void
  /** Empties the cache, after a rollback. */
  forget(): void
}>

/**
 * Opens the writer of lots, holds, and the rows and sums of unpaid prizes. Rows depend only on lots and holds. Sums
 * depend on the rows and on a moment: that of the log's last event for all contests, that of the last event that could
 * change its lots for one contest. So they do not depend on how events are divided into batches.
 */
export function openUnpaidWriter(db: DatabaseSync): UnpaidWriter {
  const sql = prepare(db)
  let tellFrom: Ms | null = null
  return {
    write({ lots, holds, unpaid, lotMoments }, at) {
      const from = sumsCompleteFrom(at)
      if (tellFrom !== from) removePassed(sql, ALL_CONTESTS, from)
      tellFrom = from
      for (const [contestId, ms] of lotMoments) removePassed(sql, contestId, sumsCompleteFrom(ms))
      for (const lot of lots.values()) writeLot(sql, lot)
      for (const { contestId, kind, seq, reviewUntil } of holds.values())
        sql.putHold.run(contestId, kind, seq, reviewUntil)
      const changes = [...unpaid.values()]
      writeRows(sql, changes)
      writeSums(sql, ALL_CONTESTS, changes, from)
      for (const [contestId, own] of Map.groupBy(changes, (change) => change.contestId))
        writeSums(sql, contestId, own, sumsCompleteFrom(lotMoments.get(contestId) ?? at))
    },
    forget() {
      tellFrom = null
    },
  }
}

/** Writes the columns of a lot that can have changed. Leaving `open` out saves writing a page of its index. */
function writeLot(sql: Statements, lot: Lot): void {
  const { seq, contestId, kind, atMs, unlocksAt, claim } = lot
  const open = lot.unpaid === ZERO ? null : 1
  const heldFrom = lot.heldFrom === seq ? null : lot.heldFrom
  const changed = [String(lot.amount), String(lot.unpaid), lot.reviewUntil, heldFrom] as const
  const kept = sql.isOpen.get(seq)
  if (kept === undefined)
    sql.addLot.run(seq, contestId, kind, open, atMs, ...changed, unlocksAt, claim ? 1 : 0)
  else if (kept['open'] === open) sql.changeLot.run(...changed, seq)
  else sql.moveLot.run(open, ...changed, seq)
}

function writeRows(sql: Statements, changes: readonly RowChange[]): void {
  for (const { before, after } of changes)
    if (before !== null && before.first !== after?.first) sql.removeRow.run(before.first)
  // After all removals: a lot whose terms change can be the first of one row before and of another after.
  for (const { contestId, kind, terms, before, after } of changes) {
    if (after === null) continue
    const { first } = after
    const kots = String(after.unpaid)
    // An update does not write the index of contests.
    if (before?.first !== first) sql.addRow.run(first, contestId, kind, formatTerms(terms), kots)
    else if (before.unpaid !== after.unpaid) sql.changeRow.run(kots, first)
  }
}

function removePassed(sql: Statements, contest: number, from: Ms): void {
  for (const { level, to } of bucketsBefore(from)) sql.removePassed.run(contest, level, to)
}

function writeSums(sql: Statements, contest: number, changes: readonly RowChange[], from: Ms): void {
  const added = new Map<string, readonly [SumBucket, UnpaidSums]>()
  for (const { terms, before, after } of changes) {
    const amount = subtract(after?.unpaid ?? ZERO, before?.unpaid ?? ZERO)
    for (const [place, sums] of sumsOf(terms, amount, from)) {
      const key = `${place.level} ${place.bucket}`
      added.set(key, [place, addSums(added.get(key)?.[1] ?? NO_SUMS, sums)])
    }
  }
  for (const [{ level, bucket }, sums] of added.values()) {
    if (areZero(sums)) continue
    const row = sql.sums.get(contest, level, bucket)
    const after = addSums(row === undefined ? NO_SUMS : unpaidSumsOf(row), sums)
    if (areZero(after)) sql.removeSums.run(contest, level, bucket)
    else sql.putSums.run(contest, level, bucket, ...UNPAID_SUMS.map((name) => formatSum(after[name])))
  }
}

type Statements = ReturnType<typeof prepare>

function prepare(db: DatabaseSync) {
  const sums = db.prepare(
    'SELECT locked, claim, plain, overpaid FROM unpaid_sums WHERE contest = ? AND level = ? AND bucket = ?',
  )
  sums.setReadBigInts(true)
  return {
    isOpen: db.prepare('SELECT open FROM lots WHERE seq = ?'),
    addLot: db.prepare(
      `INSERT INTO lots (seq, contest, kind, open, at, amount, unpaid, review_until, held_from, unlocks_at, claim)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    changeLot: db.prepare(
      'UPDATE lots SET amount = ?, unpaid = ?, review_until = ?, held_from = ? WHERE seq = ?',
    ),
    moveLot: db.prepare(
      'UPDATE lots SET open = ?, amount = ?, unpaid = ?, review_until = ?, held_from = ? WHERE seq = ?',
    ),
    putHold: db.prepare(
      'INSERT OR REPLACE INTO holds (contest, kind, seq, review_until) VALUES (?, ?, ?, ?)',
    ),
    addRow: db.prepare('INSERT INTO unpaid (seq, contest, kind, terms, kots) VALUES (?, ?, ?, ?, ?)'),
    changeRow: db.prepare('UPDATE unpaid SET kots = ? WHERE seq = ?'),
    removeRow: db.prepare('DELETE FROM unpaid WHERE seq = ?'),
    sums,
    putSums: db.prepare(
      `INSERT OR REPLACE INTO unpaid_sums (contest, level, bucket, locked, claim, plain, overpaid)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    removePassed: db.prepare('DELETE FROM unpaid_sums WHERE contest = ? AND level = ? AND bucket < ?'),
    removeSums: db.prepare('DELETE FROM unpaid_sums WHERE contest = ? AND level = ? AND bucket = ?'),
  }
}
