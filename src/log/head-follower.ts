import type { HeadCell } from './store/head-cell.ts'
import type { LogReader } from './store/reader.ts'

/** Moves a reader's head after each commit until `stopped`, which wakes the thread's streams. Read errors are reported. */
export async function followHead(
  reader: Pick<LogReader, 'head'>,
  cell: HeadCell,
  stopped: AbortSignal,
  report: (error: unknown) => void,
): Promise<void> {
  while (!stopped.aborted) {
    // Read before the reader: if the reader fails or is ahead, the loop still waits for the next commit.
    const seen = cell.read()
    try {
      reader.head()
    } catch (error) {
      report(error)
    }
    await cell.moved(seen)
  }
}
