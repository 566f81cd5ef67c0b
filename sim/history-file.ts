import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { HistorySettings } from './history.ts'

/** Settings of the thread that writes a history. */
export type HistoryFileSettings = Readonly<{ file: string; settings: HistorySettings }>

/** Writes a history as JSON lines, in a thread of its own. Throws the signal's reason when it is aborted. */
export async function writeHistory(
  file: string,
  settings: HistorySettings,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const workerData: HistoryFileSettings = { file, settings }
  const worker = new Worker(new URL(import.meta.resolve('./history-thread.ts')), { workerData })
  try {
    await once(worker, 'message', { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    await worker.terminate()
  }
}
