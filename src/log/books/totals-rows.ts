import { encodeTally, type Tally } from '../../project/fold/tally.ts'
import { assert } from '../../protocol/brand.ts'
import { floorTo, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'

/** Most chunks that begin within one minute. A minute with so many has at least 2^28 events. */
const CHUNKS_OF_MINUTE_MAX = 2 ** 20
/** Header of a row: the seq (64 bits) and the byte length of the figures (16 bits), both little-endian. */
const HEAD_BYTES = 10
const LENGTH_AT = 8
const LENGTH_MAX = 2 ** 16
const TWO_32 = 2 ** 32

/** Consecutive events that share one row of prefix totals, from the event `seq` on. */
export type Chunk = Readonly<{ id: number; seq: Seq }>

/** Position of a row's figures in bytes that may hold many rows. The figures are those before the event `seq`. */
type TotalsRow = Readonly<{ seq: Seq; figuresAt: number; figuresEnd: number }>

/**
 * Least id of a chunk that begins at or after a whole minute. Ids ascend with time, so the primary key finds a moment
 * without an index.
 */
export function firstChunkFrom(minute: Ms): number {
  assert(minute % MINUTE_MS === 0, `${minute} is a whole minute`)
  return (minute / MINUTE_MS) * CHUNKS_OF_MINUTE_MAX
}

/** Id of a chunk that begins at `at` and follows the chunk `last` (null for the first). */
export function nextChunk(last: number | null, at: Ms): number {
  const first = firstChunkFrom(floorTo(at, MINUTE_MS))
  const next = last === null ? first : Math.max(first, last + 1)
  assert(next < first + CHUNKS_OF_MINUTE_MAX, `a minute has at most ${CHUNKS_OF_MINUTE_MAX} chunks`)
  return next
}

/** Encodes a row. It contains its own length, so that many rows can be joined into one blob. */
export function encodeTotalsRow(seq: Seq, tally: Tally): Uint8Array {
  const figures = encodeTally(tally)
  const row = new Uint8Array(HEAD_BYTES + figures.byteLength)
  const view = new DataView(row.buffer)
  view.setUint32(0, seq % TWO_32, true)
  view.setUint32(4, Math.floor(seq / TWO_32), true)
  assert(figures.byteLength < LENGTH_MAX, `the totals before seq ${seq} take ${figures.byteLength} bytes`)
  view.setUint16(LENGTH_AT, figures.byteLength, true)
  row.set(figures, HEAD_BYTES)
  return row
}

/** Row at an offset. Throws when the bytes end before the row does. */
export function totalsRowAt(view: DataView, at: number): TotalsRow {
  const seq = seqOf(view.getUint32(at + 4, true) * TWO_32 + view.getUint32(at, true))
  const figuresAt = at + HEAD_BYTES
  const figuresEnd = figuresAt + view.getUint16(at + LENGTH_AT, true)
  assert(figuresEnd <= view.byteLength, 'a row of prefix totals lies within its bytes')
  return { seq, figuresAt, figuresEnd }
}
