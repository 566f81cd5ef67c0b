import type { Seq } from '../../protocol/seq.ts'
import { BEFORE_FIRST, seqOf } from '../../protocol/seq.ts'

/** The head in shared memory: one number that moves once per commit. */
export type HeadCell = Readonly<{
  /** The memory with which other threads open the same cell. */
  buffer: SharedArrayBuffer
  read(): Seq
  /** Moves the head forward and wakes the waiting threads. Only the writer calls it, after its commit. */
  move(seq: Seq): void
  /** Settles when the head is no longer `seq`, or after a second. */
  moved(seq: Seq): Promise<void>
}>

/** The longest wait for a move, so that a stopping thread does not wait forever. */
const WAIT_MS = 1_000

export function openHeadCell(buffer: SharedArrayBuffer = new SharedArrayBuffer(8)): HeadCell {
  const cell = new BigInt64Array(buffer)
  return {
    buffer,
    read() {
      const seq = Number(Atomics.load(cell, 0))
      return seq === 0 ? BEFORE_FIRST : seqOf(seq)
    },
    move(seq) {
      Atomics.store(cell, 0, BigInt(seq))
      Atomics.notify(cell, 0)
    },
    async moved(seq) {
      await Atomics.waitAsync(cell, 0, BigInt(seq), WAIT_MS).value
    },
  }
}
