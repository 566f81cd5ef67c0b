import type { DatabaseSync } from 'node:sqlite'
import type { AsOfTotals, Head } from '../../project/fold/books.ts'
import { activityOfTotals, replay } from '../../project/fold/prefix.ts'
import {
  emptyTally,
  KIND_FIGURES,
  KIND_TYPES,
  type KindFigure,
  type Tally,
  tallyOf,
  type Totals,
  totalsOf,
  totalsOfTally,
} from '../../project/fold/tally.ts'
import {
  activityKindSlots,
  decodeActivity,
  weekOf,
  type WeekRepository,
} from '../../project/fold/week-sums.ts'
import { boundOf, floorTo, MINUTE_MS, type Ms, msOf } from '../../protocol/moment.ts'
import { BEFORE_FIRST, type Seq, seqOf } from '../../protocol/seq.ts'
import { bytes, number, type Row, text } from '../store/codec.ts'
import { entryOfRow, openStoredReplay } from './stored-repository.ts'
import { type Chunk, firstChunkFrom, totalsRowAt } from './totals-rows.ts'
import { assert, recordOf } from '../../protocol/brand.ts'
import { ruleKind } from '../../protocol/rules.ts'

/** Reads the prefix totals, in the caller's read transaction. */
export type PrefixReader = Readonly<{
  head(): Head
  firstAtMs(): Ms | null
  /** The totals of all events. */
  newest(): Tally
  /** Chunk of the last event; null on an empty log. */
  newestChunk(): Chunk | null
  /** The totals of all events before `ms`. */
  totalsBefore(ms: Ms): AsOfTotals
  /** Totals before each of `bounds`, which are whole minutes in ascending order; with or without sums by kind. */
  totalsBeforeEach(bounds: readonly Ms[], withKinds?: boolean): readonly AsOfTotals[]
  /** Seq of the last event before `ms`; 0 when there is none. */
  seqBefore(ms: Ms): Seq
  /** Kinds of a figure, in the order of their first events. */
  kinds(figure: KindFigure): readonly string[]
  weekRepository: WeekRepository
}>

type Statements = ReturnType<typeof prepare>

/** Row of prefix totals: the totals before the event `seq`, which begins a chunk. */
type RowBefore = Readonly<{ seq: Seq; totals: Totals }>

/** Opens the prefix totals of a store. Loads none of them. */
export function openPrefixReader(db: DatabaseSync): PrefixReader {
  const sql = prepare(db)
  const repository = openStoredReplay(db)
  const kindsOf = knownKinds(sql)
  let newestAt: Readonly<{ seq: Seq; tally: Tally }> = { seq: BEFORE_FIRST, tally: emptyTally() }

  function rowIn(row: Row | undefined): RowBefore | undefined {
    if (row === undefined) return undefined
    const view = viewOf(row, 'row')
    const found = totalsRowAt(view, 0, true)
    return { seq: found.seq, totals: totalsOf(view, found, kindsOf) }
  }

  /** Row of the last chunk that begins before `ms`. */
  function lastRowBefore(ms: Ms): RowBefore | undefined {
    const nextMinute = boundOf(floorTo(ms, MINUTE_MS) + MINUTE_MS)
    return rowIn(sql.lastBefore.get(firstChunkFrom(nextMinute), ms))
  }

  /** Totals of a row plus its events that are earlier than `before`. */
  function replayed(row: RowBefore, before: Ms | null): Readonly<{ tally: Tally; seq: Seq }> {
    const tally = tallyOf(row.totals)
    let seq = seqOf(row.seq - 1)
    for (const entry of sql.entriesFrom.iterate(row.seq)) {
      const { event, details } = entryOfRow(entry)
      if (before !== null && event.atMs >= before) break
      replay(tally, { event, details }, repository)
      seq = event.seq
    }
    return { tally, seq }
  }

  function newest(): Tally {
    const { seq } = headOf(sql)
    if (newestAt.seq !== seq) {
      const row = rowIn(sql.newest.get())
      newestAt = { seq, tally: row === undefined ? emptyTally() : replayed(row, null).tally }
    }
    return newestAt.tally
  }

  function totalsBefore(ms: Ms): AsOfTotals {
    if (ms % MINUTE_MS === 0) {
      const row = rowIn(sql.firstFrom.get(firstChunkFrom(ms)))
      return row === undefined ? asOf(sql, headOf(sql).seq, totalsOfTally(newest())) : asOfRow(sql, row)
    }
    const row = lastRowBefore(ms)
    if (row === undefined) return asOf(sql, BEFORE_FIRST, totalsOfTally(emptyTally()))
    const { tally, seq } = replayed(row, ms)
    return asOf(sql, seq, totalsOfTally(tally))
  }

  return {
    head: () => headOf(sql),
    firstAtMs: () => atOf(sql, seqOf(1)),
    newest,
    newestChunk() {
      const row = sql.newest.get()
      return row === undefined
        ? null
        : { id: number(row, 'id'), seq: totalsRowAt(viewOf(row, 'row'), 0, true).seq }
    },
    totalsBefore,
    totalsBeforeEach(bounds, withKinds = false) {
      // SQLite joins the rows into one blob. An array for each of a thousand rows would cost more than finding them.
      const query = withKinds ? sql.firstFromEachWithKinds : sql.firstFromEach
      const found = query.get(JSON.stringify(bounds.map(firstChunkFrom)))
      const view = found === undefined || found['rows'] === null ? NO_ROWS : viewOf(found, 'rows')
      const each: AsOfTotals[] = []
      let last = 0
      for (let at = 0; at < view.byteLength;) {
        const row = totalsRowAt(view, at, withKinds)
        assert(row.seq >= last, `row ${row.seq} of the prefix totals follows ${last}`)
        each.push(asOfRow(sql, { seq: row.seq, totals: totalsOf(view, row, kindsOf) }))
        at = row.end
        last = row.seq
      }
      if (each.length >= bounds.length) return each
      // Every event is before a bound that is after the last row.
      const all = totalsBefore(boundOf(bounds.at(-1) ?? 0))
      return bounds.map((_, index) => each[index] ?? all)
    },
    seqBefore(ms) {
      // The row before `ms` begins the chunk of the answer, so at most 256 events are read.
      const row = lastRowBefore(ms)
      if (row === undefined) return BEFORE_FIRST
      const first = sql.firstEventFrom.get(row.seq, ms)
      return first === undefined ? headOf(sql).seq : seqOf(number(first, 'seq') - 1)
    },
    kinds: (figure) => readKinds(sql, figure),
    weekRepository: {
      row(q) {
        const row = sql.weekRow.get(q)
        if (row === undefined) return undefined
        const stored = bytes(row, 'row')
        return decodeActivity(stored, kindsOf('spentOnPlay', activityKindSlots(stored)))
      },
      weekWithRows(week) {
        // Rows are stored for whole weeks. The last row up to a Monday belongs to that week or to the newest one before
        // it.
        const row = sql.weekWithRows.get(week)
        return row === undefined ? undefined : weekOf(boundOf(number(row, 'q')))
      },
      activityBefore: (ms) => activityOfTotals(totalsBefore(ms).totals),
    },
  }
}

/** A row with its sums by kind. Without them, SQLite does not read their pages. */
const WITH_KINDS = 'CAST(row || kinds AS BLOB)'

function firstFromEach(column: string): string {
  return `SELECT CAST(group_concat((SELECT ${column} FROM totals WHERE id >= value ORDER BY id LIMIT 1), '') AS BLOB)
    AS rows FROM json_each(?)`
}

function prepare(db: DatabaseSync) {
  return {
    head: db.prepare('SELECT seq, at FROM events WHERE seq = (SELECT max(seq) FROM events)'),
    at: db.prepare('SELECT at FROM events WHERE seq = ?'),
    entriesFrom: db.prepare(
      'SELECT e.line AS line, d.line AS details FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq >= ? ORDER BY e.seq',
    ),
    firstEventFrom: db.prepare('SELECT seq FROM events WHERE seq >= ? AND at >= ? ORDER BY seq LIMIT 1'),
    kinds: db.prepare('SELECT kind FROM kinds WHERE type = ? ORDER BY code'),
    weekRow: db.prepare('SELECT row FROM week_sums WHERE q = ?'),
    weekWithRows: db.prepare('SELECT q FROM week_sums WHERE q <= ? ORDER BY q DESC LIMIT 1'),
    // Row of the first chunk at or after a whole minute, and the same for a list of minutes in ascending order.
    firstFrom: db.prepare(`SELECT ${WITH_KINDS} AS row FROM totals WHERE id >= ? ORDER BY id LIMIT 1`),
    firstFromEach: db.prepare(firstFromEach('row')),
    firstFromEachWithKinds: db.prepare(firstFromEach(WITH_KINDS)),
    // `at` excludes the chunks of the same minute that begin later.
    lastBefore: db.prepare(
      `SELECT ${WITH_KINDS} AS row FROM totals WHERE id < ? AND at < ? ORDER BY id DESC LIMIT 1`,
    ),
    newest: db.prepare(`SELECT id, ${WITH_KINDS} AS row FROM totals WHERE id = (SELECT max(id) FROM totals)`),
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

function readKinds(sql: Statements, figure: KindFigure): readonly string[] {
  const type = KIND_TYPES[figure]
  const kinds = sql.kinds.all(type).map((row) => text(row, 'kind'))
  // Refunds and loyalty payments are payouts too, but not of prizes.
  return kinds.filter((kind) => ruleKind(type, kind) === '*')
}

/**
 * Opens the kinds of each figure. Returns at least the first `count`. Kinds are only added at the end, so the cache is
 * read again only when `count` exceeds it.
 */
function knownKinds(sql: Statements): (figure: KindFigure, count: number) => readonly string[] {
  const known = recordOf(KIND_FIGURES, (): readonly string[] => [])
  return (figure, count) => {
    if (count > known[figure].length) known[figure] = readKinds(sql, figure)
    return known[figure]
  }
}

const NO_ROWS = new DataView(new ArrayBuffer(0))

function viewOf(row: Row, column: string): DataView {
  const { buffer, byteOffset, byteLength } = bytes(row, column)
  return new DataView(buffer, byteOffset, byteLength)
}
