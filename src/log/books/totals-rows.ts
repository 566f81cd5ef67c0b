import { encodeKinds, encodeTally, type Tally } from '../../project/fold/tally.ts'
import { assert } from '../../protocol/brand.ts'
import { floorTo, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'

/** Most chunks that begin within one minute. A minute with so many has at least 2^28 events. */
const CHUNKS_OF_MINUTE_MAX = 2 ** 20
/** Header of a row: the seq, then the byte length of the figures, both little-endian. */
const SEQ_BYTES = 8
const LENGTH_BYTES = 2
const LENGTH_MAX = 2 ** 16
const TWO_32 = 2 ** 32

/** Consecutive events that share one row of prefix totals, from the event `seq` on. */
export type Chunk = Readonly<{ id: number; seq: Seq }>

/** Parts of a row: the seq and the figures, and the sums by kind, which most answers leave unread. */
type TotalsRow = Readonly<{ row: Uint8Array; kinds: Uint8Array }>

/** A row within bytes that may hold many: the figures before the event `seq`, and the sums by kind if they are there. */
type TotalsRowAt = Readonly<{ seq: Seq; figuresAt: number; kindsAt: number | null; end: number }>

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

/** Encodes a row. Each part has its own length, so that many rows can be joined into one blob. */
export function encodeTotalsRow(seq: Seq, tally: Tally): TotalsRow {
  const figures = encodeTally(tally)
  const row = new Uint8Array(SEQ_BYTES + LENGTH_BYTES + figures.byteLength)
  const view = new DataView(row.buffer)
  view.setUint32(0, seq % TWO_32, true)
  view.setUint32(4, Math.floor(seq / TWO_32), true)
  view.setUint16(SEQ_BYTES, figures.byteLength, true)
  row.set(figures, SEQ_BYTES + LENGTH_BYTES)
  const sums = encodeKinds(tally)
  assert(sums.byteLength < LENGTH_MAX, `the sums by kind before seq ${seq} take ${sums.byteLength} bytes`)
  const kinds = new Uint8Array(LENGTH_BYTES + sums.byteLength)
  new DataView(kinds.buffer).setUint16(0, sums.byteLength, true)
  kinds.set(sums, LENGTH_BYTES)
  return { row, kinds }
}

/** Row at an offset, whose sums by kind follow it when `withKinds`. Throws when the bytes end before the row does. */
export function totalsRowAt(view: DataView, at: number, withKinds: boolean): TotalsRowAt {
  const seq = seqOf(view.getUint32(at + 4, true) * TWO_32 + view.getUint32(at, true))
  const figuresAt = at + SEQ_BYTES + LENGTH_BYTES
  const figuresEnd = figuresAt + view.getUint16(at + SEQ_BYTES, true)
  const kindsAt = withKinds ? figuresEnd + LENGTH_BYTES : null
  const end = kindsAt === null ? figuresEnd : kindsAt + view.getUint16(figuresEnd, true)
  assert(end <= view.byteLength, 'a row of prefix totals lies within its bytes')
  return { seq, figuresAt, kindsAt, end }
}
