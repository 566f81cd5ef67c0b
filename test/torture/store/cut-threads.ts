import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type CutCounts, type CutJob, runCuts } from './cut-run.ts'

/** Threads of a large campaign. */
const THREADS = 2
/** States of a campaign that this thread alone checks: another one takes a second to start. */
const STATES_ALONE = 2_000

/** Runs the jobs in this thread or in several ones. Makes each job when its turn comes, because recordings are large. */
export async function runJobs(
  makers: readonly (() => Promise<CutJob>)[],
  states: number,
  onCounts: (counts: CutCounts) => void,
): Promise<void> {
  const left = [...makers]
  if (states <= STATES_ALONE) {
    for (const make of left) onCounts(await runCuts(await make()))
    return
  }
  const work = async (): Promise<void> => {
    const thread = new Worker(new URL(import.meta.resolve('./cut-thread.ts')))
    try {
      for (let make = left.shift(); make !== undefined; make = left.shift()) {
        thread.postMessage(await make())
        const [counts] = (await once(thread, 'message')) as [CutCounts]
        onCounts(counts)
      }
    } finally {
      await thread.terminate()
    }
  }
  await Promise.all(Array.from({ length: THREADS }, work))
}
