import type { DatabaseSync } from 'node:sqlite'
import type { Activity, AsOfTotals, Head } from '../project/books.ts'
import { activityOfTotals, replay } from '../project/prefix.ts'
import type { Tally, Totals } from '../project/tally.ts'
import { decodeTally, emptyTally, kindSlots, totalsOf, totalsOfTally } from '../project/tally.ts'
import type { WeekShelf } from '../project/week-sums.ts'
import { activityKindSlots, decodeActivity, weekOf } from '../project/week-sums.ts'
import { assert } from '../protocol/brand.ts'
import type { Ms } from '../protocol/moment.ts'
import { boundOf, MINUTE_MS, msOf } from '../protocol/moment.ts'
import type { Seq } from '../protocol/seq.ts'
import { BEFORE_FIRST, seqOf } from '../protocol/seq.ts'
import { bytes, number, text } from './codec.ts'
import type { Row } from './codec.ts'
import { entryOfRow, replayShelf } from './shelf.ts'

/** The prefix totals as they stand in the store, inside the caller's read transaction. */
export type PrefixReader = Readonly<{
  head(): Head
  firstAtMs(): Ms | null
  /** The figures with every event of the log. */
  newest(): Tally
  /** The figures with every event before `ms`. */
  totalsBefore(ms: Ms): AsOfTotals
  /** The same before each of `bounds`, whole minutes that never decrease. */
  totalsBeforeEach(bounds: readonly Ms[]): readonly AsOfTotals[]
  /** The last seq whose event lies before `ms`; 0 when there is none. */
  seqBefore(ms: Ms): Seq
  /** The kinds of play in the order in which they first appeared. */
  playKinds(): readonly string[]
  weekShelf: WeekShelf
}>

type Statements = ReturnType<typeof prepare>

/** Opens the prefix totals of a store. Nothing of them is loaded. */
export function openPrefixReader(db: DatabaseSync): PrefixReader {
  const sql = prepare(db)
  const shelf = replayShelf(db)
  let newestAt: Readonly<{ seq: Seq; tally: Tally }> = { seq: BEFORE_FIRST, tally: emptyTally() }

  const kindsOf = knownKinds(sql)

  /** The row's figures with the events from the row's seq on that `counts` lets in. */
  function replayed(row: Row, before: Ms | null): Readonly<{ tally: Tally; seq: Seq }> {
    const stored = bytes(row, 'row')
    const tally = decodeTally(stored, kindsOf(kindSlots(stored)))
    let seq = seqOf(number(row, 'seq') - 1)
    for (const entry of sql.entriesFrom.iterate(number(row, 'seq'))) {
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
      const row = sql.lastRow.get()
      newestAt = { seq, tally: row === undefined ? emptyTally() : replayed(row, null).tally }
    }
    return newestAt.tally
  }

  function totalsBefore(ms: Ms): AsOfTotals {
    if (ms % MINUTE_MS === 0) {
      const row = firstRowFrom(sql, ms)
      if (row === undefined) return asOf(sql, headOf(sql).seq, totalsOfTally(newest()))
      return asOf(sql, seqOf(row.seq - 1), totalsOf(row.stored, kindsOf(kindSlots(row.stored))))
    }
    const row = sql.rowBefore.get(ms)
    if (row === undefined) return asOf(sql, BEFORE_FIRST, totalsOfTally(emptyTally()))
    const { tally, seq } = replayed(row, ms)
    return asOf(sql, seq, totalsOfTally(tally))
  }

  function totalsBeforeEach(bounds: readonly Ms[]): readonly AsOfTotals[] {
    const rows = firstRowsFrom(sql, bounds)
    // Past the last row every bound has all of the log before it.
    const all = rows.length < bounds.length ? totalsBefore(boundOf(bounds.at(-1) ?? 0)) : undefined
    return bounds.map((_, index) => {
      const row = rows[index]
      if (row !== undefined) {
        return asOf(sql, seqOf(row.seq - 1), totalsOf(row.stored, kindsOf(kindSlots(row.stored))))
      }
      assert(all !== undefined, 'a bound without a row lies after the last')
      return all
    })
  }

  return {
    head: () => headOf(sql),
    firstAtMs: () => atOf(sql, seqOf(1)),
    newest,
    totalsBefore,
    totalsBeforeEach,
    seqBefore: (ms) => seqBefore(sql, ms),
    playKinds: () => readKinds(sql),
    weekShelf: weekShelf(sql, kindsOf, (ms) => activityOfTotals(totalsBefore(ms).totals)),
  }
}

function prepare(db: DatabaseSync) {
  const rowFrom = db.prepare('SELECT seq, row FROM totals WHERE at >= ? ORDER BY at, seq LIMIT 1')
  // The one statement that an answer runs a thousand times: a row as an array costs a quarter less than by names.
  rowFrom.setReturnArrays(true)
  return {
    head: db.prepare('SELECT seq, at FROM events WHERE seq = (SELECT max(seq) FROM events)'),
    at: db.prepare('SELECT at FROM events WHERE seq = ?'),
    rowFrom,
    rowsFrom: db.prepare(
      `SELECT group_concat(t.seq) AS seqs, group_concat(length(t.row)) AS lengths, CAST(group_concat(t.row, '') AS BLOB) AS rows
       FROM json_each(?) CROSS JOIN totals t
       WHERE t.seq = (SELECT seq FROM totals WHERE at >= json_each.value ORDER BY at, seq LIMIT 1)`,
    ),
    rowBefore: db.prepare('SELECT seq, row FROM totals WHERE at < ? ORDER BY at DESC, seq DESC LIMIT 1'),
    lastRow: db.prepare('SELECT seq, row FROM totals WHERE seq = (SELECT max(seq) FROM totals)'),
    entriesFrom: db.prepare(
      'SELECT e.line AS line, d.line AS details FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq >= ? ORDER BY e.seq',
    ),
    firstFrom: db.prepare('SELECT seq FROM events WHERE seq >= ? AND at >= ? ORDER BY seq LIMIT 1'),
    playKinds: db.prepare("SELECT kind FROM kinds WHERE type = 'play' ORDER BY code"),
    weekRow: db.prepare('SELECT row FROM week_sums WHERE q = ?'),
    weekWithRows: db.prepare('SELECT q FROM week_sums WHERE q <= ? ORDER BY q DESC LIMIT 1'),
  }
}

/**
 * The first rows at or after each of `bounds`, as many as there are. They leave the store as one blob, of which each is
 * a part: an array of its own for each of a thousand rows costs more than finding them.
 */
function firstRowsFrom(sql: Statements, bounds: readonly Ms[]): readonly Found[] {
  const found = sql.rowsFrom.get(JSON.stringify(bounds))
  if (found === undefined || found['rows'] === null) return []
  const stored = bytes(found, 'rows')
  const lengths = text(found, 'lengths').split(',').map(Number)
  let end = 0
  let last = 0
  const rows = text(found, 'seqs')
    .split(',')
    .map((seq, index): Found => {
      const from = end
      end += lengths[index] ?? 0
      assert(Number(seq) >= last, `row ${seq} of the prefix totals follows ${last}`)
      last = Number(seq)
      return { seq: last, stored: stored.subarray(from, end) }
    })
  assert(end === stored.byteLength, `rows of ${end} bytes are ${stored.byteLength} together`)
  return rows
}

/** A row of prefix totals: the figures before the event `seq`. */
type Found = Readonly<{ seq: number; stored: Uint8Array }>

/** The first row of prefix totals at or after `ms`; undefined past the last. */
function firstRowFrom(sql: Statements, ms: Ms): Found | undefined {
  const row: unknown = sql.rowFrom.get(ms)
  if (row === undefined) return undefined
  assert(Array.isArray(row), 'the statement gives arrays')
  const [seq, stored]: readonly unknown[] = row
  assert(
    typeof seq === 'number' && stored instanceof Uint8Array,
    'a row of prefix totals has a seq and bytes',
  )
  return { seq, stored }
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

function readKinds(sql: Statements): readonly string[] {
  return sql.playKinds.all().map((row) => text(row, 'kind'))
}

/**
 * Gives the kinds of play, at least the first `count`. Kinds are only ever added at the end, so they are read
 * anew when a row has more of them than are known, and not for each of an answer's thousand rows.
 */
function knownKinds(sql: Statements): (count: number) => readonly string[] {
  let known: readonly string[] = []
  return (count) => {
    if (count > known.length) known = readKinds(sql)
    return known
  }
}

function seqBefore(sql: Statements, ms: Ms): Seq {
  // The row before `ms` begins the chunk in which the answer lies: at most 256 events are looked at.
  const row = sql.rowBefore.get(ms)
  if (row === undefined) return BEFORE_FIRST
  const first = sql.firstFrom.get(number(row, 'seq'), ms)
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
      // Rows come by whole weeks: the last row at or before a Monday is of that week or of the newest before it.
      const row = sql.weekWithRows.get(week)
      return row === undefined ? undefined : weekOf(boundOf(number(row, 'q')))
    },
    activityBefore,
  }
}
