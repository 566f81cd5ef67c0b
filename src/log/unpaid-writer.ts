import type { DatabaseSync } from 'node:sqlite'
import type { Lot } from '../project/contest.ts'
import type { Changes } from '../project/fold.ts'
import type { Place, Terms, UnpaidSums } from '../project/unpaid.ts'
import {
  addSums,
  areZero,
  NO_SUMS,
  placesPassed,
  sumsOf,
  sumsTellFrom,
  termsOf,
  UNPAID_SUMS,
} from '../project/unpaid.ts'
import type { Amount } from '../protocol/amount.ts'
import { add, negate, ZERO } from '../protocol/amount.ts'
import { assert } from '../protocol/brand.ts'
import type { Ms } from '../protocol/moment.ts'
import type { Seq } from '../protocol/seq.ts'
import { amountOf, formatTerms, LOT_COLUMNS, lotOf, text } from './codec.ts'
import { ALL_CONTESTS, formatSum, unpaidSumsOf } from './unpaid-columns.ts'

/** A row of what is unpaid, and what a batch adds to it; `first` is as it was before the batch. */
type Change = { readonly lot: Lot; readonly terms: Terms; readonly first: number | undefined; added: Amount }

type ChangedLots = Pick<Changes, 'lots' | 'lotMoments'>

/** Where lots are written, and with them what of them is unpaid. */
export type UnpaidWriter = Readonly<{
  /** Writes the lots that a batch changed; `at` is the moment of the batch's last event. */
  write(changed: ChangedLots, at: Ms): void
  /** To be called after a rollback. */
  forget(): void
}>

/**
 * Writes lots, and with them the rows and sums of what is unpaid. Rows follow from the lots alone. Sums follow from the
 * lots and a moment: of all contests that of the log's last event, of one contest that of the last event that could
 * change its lots. So they are the same whether lots come in one batch or in many.
 */
export function openUnpaidWriter(db: DatabaseSync): UnpaidWriter {
  const sql = prepare(db)
  let tellFrom: Ms | null = null
  return {
    write({ lots, lotMoments }, at) {
      const from = sumsTellFrom(at)
      if (tellFrom !== from) removePassed(sql, ALL_CONTESTS, from)
      tellFrom = from
      for (const [contestId, ms] of lotMoments) removePassed(sql, contestId, sumsTellFrom(ms))
      if (lots.size === 0) return
      const { kept, changes } = changesOf(sql, [...lots.values()])
      for (const lot of lots.values()) writeLot(sql, kept.get(lot.seq), lot)
      writeRows(sql, changes)
      writeSums(sql, ALL_CONTESTS, changes, from)
      for (const [contestId, own] of Map.groupBy(changes, ({ lot }) => lot.contestId)) {
        writeSums(sql, contestId, own, sumsTellFrom(lotMoments.get(contestId) ?? at))
      }
    },
    forget() {
      tellFrom = null
    },
  }
}

/** Writes of a lot only what may be another: an index that nothing changes in is a page that is not written. */
function writeLot(sql: Statements, kept: Lot | undefined, lot: Lot): void {
  const terms = lotTerms(lot)
  const changed = [String(lot.amount), String(lot.unpaid), lot.reviewUntil] as const
  if (kept === undefined) {
    const { seq, contestId, kind, atMs, unlocksAt, claim } = lot
    sql.addLot.run(seq, contestId, kind, terms, atMs, ...changed, unlocksAt, claim ? 1 : 0)
  } else if (lotTerms(kept) === terms) sql.changeLot.run(...changed, lot.seq)
  else sql.moveLot.run(terms, ...changed, lot.seq)
}

/** The terms of a lot of which something is unpaid or overpaid. */
function lotTerms(lot: Lot): string | null {
  return lot.unpaid === ZERO ? null : formatTerms(termsOf(lot))
}

/** The lots as they are kept, and what those that are not written yet change in the rows. */
function changesOf(
  sql: Statements,
  lots: readonly Lot[],
): Readonly<{ kept: ReadonlyMap<Seq, Lot>; changes: readonly Change[] }> {
  const kept = new Map<Seq, Lot>()
  const changes = new Map<string, Change>()
  const note = (lot: Lot, added: Amount): void => {
    if (lot.unpaid === ZERO) return
    const terms = termsOf(lot)
    const key = `${lot.contestId} ${lot.kind} ${formatTerms(terms)}`
    const change = changes.get(key)
    if (change === undefined) changes.set(key, { lot, terms, first: firstOf(sql, lot, terms), added })
    else change.added = add(change.added, added)
  }
  for (const lot of lots) {
    const row = sql.lot.get(lot.seq)
    if (row !== undefined) {
      const before = lotOf(row)
      kept.set(lot.seq, before)
      note(before, negate(before.unpaid))
    }
    note(lot, lot.unpaid)
  }
  return { kept, changes: [...changes.values()] }
}

/** The first lot of a row as the lots are written. */
function firstOf(sql: Statements, lot: Lot, terms: Terms): number | undefined {
  const seq = sql.first.get(lot.contestId, lot.kind, formatTerms(terms))?.['seq']
  return typeof seq === 'number' ? seq : undefined
}

function writeRows(sql: Statements, changes: readonly Change[]): void {
  const rows = changes.map((change) => {
    const row = change.first === undefined ? undefined : sql.row.get(change.first)
    const before = row === undefined ? ZERO : amountOf(text(row, 'kots'))
    const first = firstOf(sql, change.lot, change.terms)
    if (change.first !== undefined && change.first !== first) sql.removeRow.run(change.first)
    return { ...change, first, kots: add(before, change.added) }
  })
  // After all that are removed: a lot whose terms change may be the first of one row before and of another after.
  for (const { lot, terms, first, kots } of rows) {
    assert((first === undefined) === (kots === ZERO), `the row of lot ${lot.seq} sums to ${kots}`)
    if (first !== undefined) sql.putRow.run(first, lot.contestId, lot.kind, formatTerms(terms), String(kots))
  }
}

function removePassed(sql: Statements, contest: number, from: Ms): void {
  for (const { level, to } of placesPassed(from)) sql.removePassed.run(contest, level, to)
}

function writeSums(sql: Statements, contest: number, changes: readonly Change[], from: Ms): void {
  const added = new Map<string, readonly [Place, UnpaidSums]>()
  for (const [place, sums] of changes.flatMap((change) => sumsOf(change.terms, change.added, from))) {
    const key = `${place.level} ${place.bucket}`
    added.set(key, [place, addSums(added.get(key)?.[1] ?? NO_SUMS, sums)])
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
    lot: db.prepare(`SELECT ${LOT_COLUMNS} FROM lots WHERE seq = ?`),
    addLot: db.prepare(
      `INSERT INTO lots (seq, contest, kind, terms, at, amount, unpaid, review_until, unlocks_at, claim)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    changeLot: db.prepare('UPDATE lots SET amount = ?, unpaid = ?, review_until = ? WHERE seq = ?'),
    moveLot: db.prepare('UPDATE lots SET terms = ?, amount = ?, unpaid = ?, review_until = ? WHERE seq = ?'),
    first: db.prepare('SELECT min(seq) AS seq FROM lots WHERE contest = ? AND kind = ? AND terms = ?'),
    row: db.prepare('SELECT kots FROM unpaid WHERE seq = ?'),
    putRow: db.prepare(
      'INSERT OR REPLACE INTO unpaid (seq, contest, kind, terms, kots) VALUES (?, ?, ?, ?, ?)',
    ),
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
