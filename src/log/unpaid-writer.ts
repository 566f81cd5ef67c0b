import type { DatabaseSync } from 'node:sqlite'
import type { Lot } from '../project/contest.ts'
import type { Place, Terms, UnpaidSums } from '../project/unpaid.ts'
import { addSums, areZero, NO_SUMS, sumsOf, termsOf } from '../project/unpaid.ts'
import type { Amount } from '../protocol/amount.ts'
import { add, negate, ZERO } from '../protocol/amount.ts'
import { assert } from '../protocol/brand.ts'
import { amountOf, formatBody, formatTerms, parseLot, text, unpaidSumsOf } from './codec.ts'

/** A row of what is unpaid, and what a batch adds to it; `first` is as it was before the batch. */
type Change = { readonly lot: Lot; readonly terms: Terms; readonly first: number | undefined; added: Amount }

/**
 * Writes lots, and with them the rows and sums of what is unpaid. Those follow from the lots alone, so that it is
 * the same whether lots come in one batch or in many.
 */
export function openUnpaidWriter(db: DatabaseSync): (lots: readonly Lot[]) => void {
  const sql = prepare(db)
  return (lots) => {
    if (lots.length === 0) return
    const changes = changesOf(sql, lots)
    for (const lot of lots) {
      const terms = lot.unpaid === ZERO ? null : formatTerms(termsOf(lot))
      sql.putLot.run(lot.seq, lot.contestId, lot.kind, terms, formatBody(lot))
    }
    writeRows(sql, changes)
    writeSums(sql, changes)
  }
}

/** What lots that are not written yet change in the rows. */
function changesOf(sql: Statements, lots: readonly Lot[]): readonly Change[] {
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
      const before = parseLot(text(row, 'body'))
      note(before, negate(before.unpaid))
    }
    note(lot, lot.unpaid)
  }
  return [...changes.values()]
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

function writeSums(sql: Statements, changes: readonly Change[]): void {
  const added = new Map<string, readonly [Place, UnpaidSums]>()
  for (const [place, sums] of changes.flatMap((change) => sumsOf(change.terms, change.added))) {
    const key = `${place.level} ${place.bucket}`
    added.set(key, [place, addSums(added.get(key)?.[1] ?? NO_SUMS, sums)])
  }
  for (const [{ level, bucket }, sums] of added.values()) {
    if (areZero(sums)) continue
    const row = sql.sums.get(level, bucket)
    const after = addSums(row === undefined ? NO_SUMS : unpaidSumsOf(row), sums)
    const { locked, claim, plain, overpaid } = after
    if (areZero(after)) sql.removeSums.run(level, bucket)
    else sql.putSums.run(level, bucket, String(locked), String(claim), String(plain), String(overpaid))
  }
}

type Statements = ReturnType<typeof prepare>

function prepare(db: DatabaseSync) {
  return {
    lot: db.prepare('SELECT body FROM lots WHERE seq = ?'),
    putLot: db.prepare(
      'INSERT OR REPLACE INTO lots (seq, contest, kind, terms, body) VALUES (?, ?, ?, ?, ?)',
    ),
    first: db.prepare('SELECT min(seq) AS seq FROM lots WHERE contest = ? AND kind = ? AND terms = ?'),
    row: db.prepare('SELECT kots FROM unpaid WHERE seq = ?'),
    putRow: db.prepare(
      'INSERT OR REPLACE INTO unpaid (seq, contest, kind, terms, kots) VALUES (?, ?, ?, ?, ?)',
    ),
    removeRow: db.prepare('DELETE FROM unpaid WHERE seq = ?'),
    sums: db.prepare('SELECT locked, claim, plain, overpaid FROM unpaid_sums WHERE level = ? AND bucket = ?'),
    putSums: db.prepare(
      'INSERT OR REPLACE INTO unpaid_sums (level, bucket, locked, claim, plain, overpaid) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    removeSums: db.prepare('DELETE FROM unpaid_sums WHERE level = ? AND bucket = ?'),
  }
}
