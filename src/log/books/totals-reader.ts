import type { DatabaseSync } from 'node:sqlite'
import { type KindsOf, type Totals, totalsOf } from '../../project/fold/tally.ts'
import { assert } from '../../protocol/brand.ts'
import { boundOf, floorTo, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import { bytes, number, type Row } from '../store/codec.ts'
import { type Chunk, firstChunkFrom, totalsRowAt } from './totals-rows.ts'

/** A row of prefix totals: the totals before the event `seq`, which begins a chunk. */
export type RowBefore = Readonly<{ seq: Seq; totals: Totals }>

/** Finds rows of prefix totals by the moments at which their chunks begin. */
export type TotalsReader = Readonly<{
  /** The row of the first chunk at or after a whole minute; undefined when there is none. */
  firstFrom(minute: Ms): RowBefore | undefined
  /** The same for each of `minutes`, in ascending order. Minutes after the last chunk have no row. */
  firstFromEach(minutes: readonly Ms[]): readonly RowBefore[]
  /** The row of the last chunk that begins before `ms`. */
  lastBefore(ms: Ms): RowBefore | undefined
  newest(): RowBefore | undefined
  /** The chunk of the log's last event; null on an empty log. */
  newestChunk(): Chunk | null
}>

export function openTotalsReader(db: DatabaseSync, kindsOf: KindsOf): TotalsReader {
  const sql = prepare(db)

  function rowIn(row: Row | undefined): RowBefore | undefined {
    if (row === undefined) return undefined
    const view = viewOf(row, 'row')
    const { seq, figuresAt, figuresEnd } = totalsRowAt(view, 0)
    return { seq, totals: totalsOf(view, figuresAt, figuresEnd, kindsOf) }
  }

  return {
    firstFrom: (minute) => rowIn(sql.firstFrom.get(firstChunkFrom(minute))),
    firstFromEach(minutes) {
      // SQLite joins the rows into one blob: an array for each of a thousand rows would cost more than finding them.
      const found = sql.firstFromEach.get(JSON.stringify(minutes.map(firstChunkFrom)))
      if (found === undefined || found['rows'] === null) return []
      const view = viewOf(found, 'rows')
      const rows: RowBefore[] = []
      let last = 0
      for (let at = 0; at < view.byteLength;) {
        const { seq, figuresAt, figuresEnd } = totalsRowAt(view, at)
        assert(seq >= last, `row ${seq} of the prefix totals follows ${last}`)
        rows.push({ seq, totals: totalsOf(view, figuresAt, figuresEnd, kindsOf) })
        at = figuresEnd
        last = seq
      }
      return rows
    },
    lastBefore(ms) {
      const nextMinute = boundOf(floorTo(ms, MINUTE_MS) + MINUTE_MS)
      return rowIn(sql.lastBefore.get(firstChunkFrom(nextMinute), ms))
    },
    newest: () => rowIn(sql.newest.get()),
    newestChunk() {
      const row = sql.newest.get()
      return row === undefined ? null : { id: number(row, 'id'), seq: totalsRowAt(viewOf(row, 'row'), 0).seq }
    },
  }
}

function prepare(db: DatabaseSync) {
  return {
    firstFrom: db.prepare('SELECT row FROM totals WHERE id >= ? ORDER BY id LIMIT 1'),
    firstFromEach: db.prepare(
      `SELECT CAST(group_concat((SELECT row FROM totals WHERE id >= value ORDER BY id LIMIT 1), '') AS BLOB) AS rows
       FROM json_each(?)`,
    ),
    // `at` excludes the chunks of the same minute that begin later.
    lastBefore: db.prepare('SELECT row FROM totals WHERE id < ? AND at < ? ORDER BY id DESC LIMIT 1'),
    newest: db.prepare('SELECT id, row FROM totals WHERE id = (SELECT max(id) FROM totals)'),
  }
}

function viewOf(row: Row, column: string): DataView {
  const { buffer, byteOffset, byteLength } = bytes(row, column)
  return new DataView(buffer, byteOffset, byteLength)
}
