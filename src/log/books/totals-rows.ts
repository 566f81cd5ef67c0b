import type { Tally } from '../../project/fold/tally.ts'
import { encodeTally } from '../../project/fold/tally.ts'
import { assert } from '../../protocol/brand.ts'
import type { Ms } from '../../protocol/moment.ts'
import { floorTo, MINUTE_MS } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import { seqOf } from '../../protocol/seq.ts'

/** Chunks that may begin within one minute: 2^28 events of it at least. */
const CHUNKS_OF_MINUTE_MAX = 2 ** 20
/** The seq (64 bits), then how many bytes of figures follow (16 bits), both little-endian. */
const HEAD_BYTES = 10
const LENGTH_AT = 8
const TWO_32 = 2 ** 32

/** The events from `seq` on that have one row of prefix totals before them. */
export type Chunk = Readonly<{ id: number; seq: Seq }>

/** A row of prefix totals: the figures before the event `seq`, at a place of bytes that may hold many rows. */
export type TotalsRow = Readonly<{ seq: Seq; figuresAt: number; figuresEnd: number }>

/**
 * The least id that a chunk which begins at or after a whole minute can have. Ids grow with minutes and within them:
 * the tree of the rows themselves finds a moment, and no index beside it needs to.
 */
export function firstChunkFrom(minute: Ms): number {
  assert(minute % MINUTE_MS === 0, `${minute} is a whole minute`)
  return (minute / MINUTE_MS) * CHUNKS_OF_MINUTE_MAX
}

/** The id of a chunk that begins at `at`, after the chunk `last` (null for the log's first). */
export function nextChunk(last: number | null, at: Ms): number {
  const first = firstChunkFrom(floorTo(at, MINUTE_MS))
  const next = last === null ? first : Math.max(first, last + 1)
  assert(next < first + CHUNKS_OF_MINUTE_MAX, `a minute has at most ${CHUNKS_OF_MINUTE_MAX} chunks`)
  return next
}

/** A row as bytes that tell their own length, so that many can leave the store as one blob. */
export function encodeTotalsRow(seq: Seq, tally: Tally): Uint8Array {
  const figures = encodeTally(tally)
  const row = new Uint8Array(HEAD_BYTES + figures.byteLength)
  const view = new DataView(row.buffer)
  view.setUint32(0, seq % TWO_32, true)
  view.setUint32(4, Math.floor(seq / TWO_32), true)
  view.setUint16(LENGTH_AT, figures.byteLength, true)
  row.set(figures, HEAD_BYTES)
  return row
}

/** The row at a place; throws when the bytes end before it does. */
export function totalsRowAt(view: DataView, at: number): TotalsRow {
  const seq = seqOf(view.getUint32(at + 4, true) * TWO_32 + view.getUint32(at, true))
  const figuresAt = at + HEAD_BYTES
  const figuresEnd = figuresAt + view.getUint16(at + LENGTH_AT, true)
  assert(figuresEnd <= view.byteLength, 'a row of prefix totals lies within its bytes')
  return { seq, figuresAt, figuresEnd }
}
