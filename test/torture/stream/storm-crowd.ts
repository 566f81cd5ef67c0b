import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { CrowdOrder, CrowdReport, CrowdSettings } from './storm-thread.ts'

type Ended = Extract<CrowdReport, { is: 'ended' }>

/** Healthy subscribers behind a relay, in a thread: each connects again as it is told. */
type StormCrowd = AsyncDisposable &
  Readonly<{
    /** Waits until every subscriber is live and has an event. */
    reach(seq: number): Promise<void>
    /** Drops all connections at once. Resolves with their number. */
    drop(): Promise<number>
    end(): Promise<Ended>
  }>

export function openStormCrowd(workerData: CrowdSettings): StormCrowd {
  const worker = new Worker(join(import.meta.dirname, 'storm-thread.ts'), { workerData })
  const ask = async (order: CrowdOrder): Promise<CrowdReport> => {
    const reported = once(worker, 'message', { signal: AbortSignal.timeout(REPORT_MS_MAX) })
    worker.postMessage(order)
    return ((await reported) as [CrowdReport])[0]
  }
  return {
    async reach(seq) {
      await ask({ is: 'reach', seq })
    },
    async drop() {
      const report = await ask({ is: 'drop' })
      return report.is === 'dropped' ? report.connections : 0
    },
    async end() {
      const report = await ask({ is: 'end' })
      if (report.is !== 'ended') throw new Error(`an end is reported, not ${report.is}`)
      return report
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}

const REPORT_MS_MAX = 60_000
