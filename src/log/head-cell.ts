import type { LogReader } from './store/reader.ts'
import { BEFORE_FIRST, type Seq, seqOf } from '../protocol/seq.ts'

/** Moves a reader's head after each commit until `stopped`, which wakes the thread's streams. Reports read errors. */
export async function followHead(
  reader: Pick<LogReader, 'head'>,
  cell: HeadCell,
  stopped: AbortSignal,
  report: (error: unknown) => void,
): Promise<void> {
  while (!stopped.aborted) {
    // Read before the reader. If the reader fails or is ahead, the loop still waits for the next commit.
    const seen = cell.read()
    try {
      reader.head()
    } catch (error) {
      report(error)
    }
    await cell.moved(seen)
  }
}

/** Head in shared memory: a number that moves once per commit, and the number of commits. */
export type HeadCell = Readonly<{
  /** The memory with which other threads open the same cell. */
  buffer: SharedArrayBuffer
  read(): Seq
  /** Commits since the start of the service, including those without an event. */
  commits(): number
  /**
   * Moves the head forward, or leaves it, and wakes the waiting threads. Only the writer calls it, after its commit.
   */
  move(seq: Seq): void
  /** Settles when the head is no longer `seq`, or after a second. */
  moved(seq: Seq): Promise<void>
}>

/** Longest wait for a move, so that a stopping thread does not wait forever. */
const WAIT_MS = 1_000

export function openHeadCell(buffer: SharedArrayBuffer = new SharedArrayBuffer(16)): HeadCell {
  const cell = new BigInt64Array(buffer)
  return {
    buffer,
    read() {
      const seq = Number(Atomics.load(cell, 0))
      return seq === 0 ? BEFORE_FIRST : seqOf(seq)
    },
    commits: () => Number(Atomics.load(cell, 1)),
    move(seq) {
      Atomics.store(cell, 0, BigInt(seq))
      Atomics.add(cell, 1, 1n)
      Atomics.notify(cell, 0)
    },
    async moved(seq) {
      await Atomics.waitAsync(cell, 0, BigInt(seq), WAIT_MS).value
    },
  }
}
