import type { DatabaseSync } from 'node:sqlite'
import type { Activity, AsOfTotals, Head } from '../../project/fold/books.ts'
import { activityOfTotals, replay } from '../../project/fold/prefix.ts'
import { emptyTally, type Tally, tallyOf, type Totals, totalsOfTally } from '../../project/fold/tally.ts'
import { activityKindSlots, decodeActivity, weekOf, type WeekShelf } from '../../project/fold/week-sums.ts'
import { boundOf, MINUTE_MS, type Ms, msOf } from '../../protocol/moment.ts'
import { BEFORE_FIRST, type Seq, seqOf } from '../../protocol/seq.ts'
import { bytes, number, text } from '../store/codec.ts'
import { entryOfRow, replayShelf } from './shelf.ts'
import { openTotalsReader, type RowBefore, type TotalsReader } from './totals-reader.ts'
import type { Chunk } from './totals-rows.ts'

/** Reads the prefix totals, in the caller's read transaction. */
export type PrefixReader = Readonly<{
  head(): Head
  firstAtMs(): Ms | null
  /** The totals of all events. */
  newest(): Tally
  /** The chunk of the last event; null on an empty log. */
  newestChunk(): Chunk | null
  /** The totals of all events before `ms`. */
  totalsBefore(ms: Ms): AsOfTotals
  /** The same for each of `bounds`: whole minutes in ascending order. */
  totalsBeforeEach(bounds: readonly Ms[]): readonly AsOfTotals[]
  /** The seq of the last event before `ms`; 0 when there is none. */
  seqBefore(ms: Ms): Seq
  /** The kinds of play, in the order of their first events. */
  playKinds(): readonly string[]
  weekShelf: WeekShelf
}>

type Statements = ReturnType<typeof prepare>

/** Opens the prefix totals of a store. Loads none of them. */
export function openPrefixReader(db: DatabaseSync): PrefixReader {
  const sql = prepare(db)
  const shelf = replayShelf(db)
  let newestAt: Readonly<{ seq: Seq; tally: Tally }> = { seq: BEFORE_FIRST, tally: emptyTally() }

  const kindsOf = knownKinds(sql)
  const rows = openTotalsReader(db, kindsOf)

  /** The totals of a row, with the events from its seq on that are before `before`. */
  function replayed(row: RowBefore, before: Ms | null): Readonly<{ tally: Tally; seq: Seq }> {
    const tally = tallyOf(row.totals)
    let seq = seqOf(row.seq - 1)
    for (const entry of sql.entriesFrom.iterate(row.seq)) {
      const { event, details } = entryOfRow(entry)
      if (before !== null && event.atMs >= before) break
      replay(tally, { event, details }, shelf)
      seq = event.seq
    }
    return { tally, seq }
  }

  function newest(): Tally {
    const { seq } = headOf(sql)
    if (newestAt.seq !== seq) {
      const row = rows.newest()
      newestAt = { seq, tally: row === undefined ? emptyTally() : replayed(row, null).tally }
    }
    return newestAt.tally
  }

  function totalsBefore(ms: Ms): AsOfTotals {
    if (ms % MINUTE_MS === 0) {
      const row = rows.firstFrom(ms)
      return row === undefined ? asOf(sql, headOf(sql).seq, totalsOfTally(newest())) : asOfRow(sql, row)
    }
    const row = rows.lastBefore(ms)
    if (row === undefined) return asOf(sql, BEFORE_FIRST, totalsOfTally(emptyTally()))
    const { tally, seq } = replayed(row, ms)
    return asOf(sql, seq, totalsOfTally(tally))
  }

  function totalsBeforeEach(bounds: readonly Ms[]): readonly AsOfTotals[] {
    const each = rows.firstFromEach(bounds).map((row) => asOfRow(sql, row))
    if (each.length >= bounds.length) return each
    // All events are before a bound that is after the last row.
    const all = totalsBefore(boundOf(bounds.at(-1) ?? 0))
    return bounds.map((_, index) => each[index] ?? all)
  }

  return {
    head: () => headOf(sql),
    firstAtMs: () => atOf(sql, seqOf(1)),
    newest,
    newestChunk: rows.newestChunk,
    totalsBefore,
    totalsBeforeEach,
    seqBefore: (ms) => seqBefore(sql, rows, ms),
    playKinds: () => readKinds(sql),
    weekShelf: weekShelf(sql, kindsOf, (ms) => activityOfTotals(totalsBefore(ms).totals)),
  }
}

function prepare(db: DatabaseSync) {
  return {
    head: db.prepare('SELECT seq, at FROM events WHERE seq = (SELECT max(seq) FROM events)'),
    at: db.prepare('SELECT at FROM events WHERE seq = ?'),
    entriesFrom: db.prepare(
      'SELECT e.line AS line, d.line AS details FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq >= ? ORDER BY e.seq',
    ),
    firstFrom: db.prepare('SELECT seq FROM events WHERE seq >= ? AND at >= ? ORDER BY seq LIMIT 1'),
    playKinds: db.prepare("SELECT kind FROM kinds WHERE type = 'play' ORDER BY code"),
    weekRow: db.prepare('SELECT row FROM week_sums WHERE q = ?'),
    weekWithRows: db.prepare('SELECT q FROM week_sums WHERE q <= ? ORDER BY q DESC LIMIT 1'),
  }
}

function headOf(sql: Statements): Head {
  const row = sql.head.get()
  return row === undefined
    ? { seq: BEFORE_FIRST, atMs: null }
    : { seq: seqOf(number(row, 'seq')), atMs: msOf(number(row, 'at')) }
}

function atOf(sql: Statements, seq: Seq): Ms | null {
  const row = sql.at.get(seq)
  return row === undefined ? null : msOf(number(row, 'at'))
}

function asOf(sql: Statements, seq: Seq, totals: Totals): AsOfTotals {
  return { seq, head: () => ({ seq, atMs: atOf(sql, seq) }), totals }
}

/** The totals before a row's seq. */
function asOfRow(sql: Statements, { seq, totals }: RowBefore): AsOfTotals {
  return asOf(sql, seqOf(seq - 1), totals)
}

function readKinds(sql: Statements): readonly string[] {
  return sql.playKinds.all().map((row) => text(row, 'kind'))
}

/**
 * Gives the kinds of play, at least the first `count`. They are cached, and read again when `count` is more than the
 * cache has: kinds are only added at the end.
 */
function knownKinds(sql: Statements): (count: number) => readonly string[] {
  let known: readonly string[] = []
  return (count) => {
    if (count > known.length) known = readKinds(sql)
    return known
  }
}

function seqBefore(sql: Statements, rows: TotalsReader, ms: Ms): Seq {
  // The row before `ms` begins the chunk of the answer, so at most 256 events are read.
  const row = rows.lastBefore(ms)
  if (row === undefined) return BEFORE_FIRST
  const first = sql.firstFrom.get(row.seq, ms)
  return first === undefined ? headOf(sql).seq : seqOf(number(first, 'seq') - 1)
}

function weekShelf(
  sql: Statements,
  kindsOf: (count: number) => readonly string[],
  activityBefore: (ms: Ms) => Activity,
): WeekShelf {
  return {
    row(q) {
      const row = sql.weekRow.get(q)
      if (row === undefined) return undefined
      const stored = bytes(row, 'row')
      return decodeActivity(stored, kindsOf(activityKindSlots(stored)))
    },
    weekWithRows(week) {
      // Rows are stored for whole weeks, so the last row up to a Monday belongs to that week or the newest before it.
      const row = sql.weekWithRows.get(week)
      return row === undefined ? undefined : weekOf(boundOf(number(row, 'q')))
    },
    activityBefore,
  }
}
