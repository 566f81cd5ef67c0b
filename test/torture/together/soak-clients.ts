import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Load of readers, in a thread of its own. */
export type SoakLoad = Readonly<{
  seed: string
  /** Base URLs of the nodes, which stay the same across restarts. */
  urls: readonly string[]
  /** Newest seq at the beginning. Streams begin shortly before the newest seq that was told. */
  head: number
  opensPerSecond: number
  /** Mean duration of a stream. */
  streamMs: number
  getsPerSecond: number
}>

/** Counts of the readers since the start, and the times of the GETs since the last report, for each node in ms. */
export type SoakReport = Readonly<{
  opened: number
  refused: number
  delivered: number
  gets: number
  /** GETs that met a node that is down, or answered 429 or 503. */
  unavailable: number
  /** GETs that were left out, because too many were under way. */
  skipped: number
  getMs: readonly (readonly number[])[]
  open: number
  wrong: readonly string[]
}>

/** Readers of the nodes: streams of all kinds, and GETs. */
type SoakClients = AsyncDisposable &
  Readonly<{
    report(head: number): Promise<SoakReport>
    /** Ends all streams and GETs. */
    calm(): void
  }>

export function openSoakClients(load: SoakLoad): SoakClients {
  const worker = new Worker(join(import.meta.dirname, 'soak-thread.ts'), { workerData: load })
  const failed = once(worker, 'error').then(([error]) => Promise.reject(error as Error))
  failed.catch(() => undefined)
  return {
    async report(head) {
      const answered = once(worker, 'message')
      worker.postMessage({ head })
      const [report] = (await Promise.race([answered, failed])) as [SoakReport]
      return report
    },
    calm: () => worker.postMessage('calm'),
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}
