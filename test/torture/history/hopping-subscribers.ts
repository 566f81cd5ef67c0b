import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { SubscriberOrder, SubscriberReport, SubscriberSettings } from './subscriber-thread.ts'

const ANSWER_MS_MAX = 30_000

type End = Extract<SubscriberReport, { is: 'end' }>

/** Subscribers that read the stream of random nodes and hop between them by `after`. They run in a thread. */
export type HoppingSubscribers = AsyncDisposable &
  Readonly<{
    nodes(urls: readonly (readonly [node: string, url: string | null])[]): void
    /** Resets a share of the streams, at whatever byte they are. Resolves with their number. */
    cut(share: number): Promise<number>
    /** Resolves with the number of subscribers that lack an event: 0 as soon as all have it, else after a time. */
    lacking(seq: number, msMax: number): Promise<number>
    end(): Promise<End>
  }>

export function openHoppingSubscribers(settings: SubscriberSettings): HoppingSubscribers {
  // A caller's settings may have more, such as functions, which no thread can get.
  const { seed, subscribers, hopMs, filters = false } = settings
  const workerData: SubscriberSettings = { seed, subscribers, hopMs, filters }
  const worker = new Worker(join(import.meta.dirname, 'subscriber-thread.ts'), { workerData })
  const order = (one: SubscriberOrder): void => worker.postMessage(one)
  const waiting = new Set<(report: SubscriberReport) => void>()
  worker.on('message', (report: SubscriberReport) => {
    for (const hear of waiting) hear(report)
  })
  const failed = once(worker, 'error').then(([error]) => Promise.reject(error as Error))
  failed.catch(() => undefined)
  /** Resolves when a report has brought a result, or after a time with null. */
  const reported = async <Result>(
    resultOf: (report: SubscriberReport) => Result | null,
    msMax: number,
  ): Promise<Result | null> => {
    const { promise, resolve } = Promise.withResolvers<Result | null>()
    const hear = (report: SubscriberReport): void => {
      const result = resultOf(report)
      if (result !== null) resolve(result)
    }
    waiting.add(hear)
    const timer = setTimeout(resolve, msMax, null)
    try {
      return await Promise.race([promise, failed])
    } finally {
      clearTimeout(timer)
      waiting.delete(hear)
    }
  }
  return {
    nodes: (urls) => order({ is: 'nodes', urls }),
    async cut(share) {
      order({ is: 'cut', share })
      return (await reported((report) => (report.is === 'cut' ? report.streams : null), ANSWER_MS_MAX)) ?? 0
    },
    async lacking(seq, msMax) {
      let lacking = subscribers
      order({ is: 'head', seq })
      await reported((report) => {
        if (report.is !== 'behind') return null
        lacking = report.subscribers
        return lacking === 0 ? 0 : null
      }, msMax)
      return lacking
    },
    async end() {
      order({ is: 'end' })
      const end = await reported((report) => (report.is === 'end' ? report : null), ANSWER_MS_MAX)
      if (end === null)
        throw new Error(`the thread of the subscribers gives no report in ${ANSWER_MS_MAX} ms`)
      return end
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}
