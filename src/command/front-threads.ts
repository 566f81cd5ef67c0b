import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { FrontThreadSettings, FromFront, ThreadMetrics, ToFront } from './front-thread.ts'

/** The further threads that serve. */
export type FrontThreads = AsyncDisposable &
  Readonly<{
    /** The metrics of each of them. */
    metrics(): Promise<readonly ThreadMetrics[]>
  }>

/**
 * Starts `count` threads; all of them listen when this resolves. `onBroken` is told when one stops by itself:
 * it may have held a lock or slots in the shared memory, so the whole service must stop too.
 */
export async function startFrontThreads(
  count: number,
  settings: FrontThreadSettings,
  onBroken: (reason: string) => void,
): Promise<FrontThreads> {
  const threads = await Promise.all(Array.from({ length: count }, () => startThread(settings, onBroken)))
  return {
    metrics: () => Promise.all(threads.map((thread) => thread.metrics())),
    async [Symbol.asyncDispose]() {
      await Promise.all(threads.map((thread) => thread.stop()))
    },
  }
}

type Thread = Readonly<{ metrics(): Promise<ThreadMetrics>; stop(): Promise<void> }>

async function startThread(
  settings: FrontThreadSettings,
  onBroken: (reason: string) => void,
): Promise<Thread> {
  const worker = new Worker(new URL(import.meta.resolve('./front-thread.ts')), { workerData: settings })
  const tell = (message: ToFront): void => worker.postMessage(message)
  const exited = once(worker, 'exit')
  const asked = new Map<number, (metrics: ThreadMetrics) => void>()
  let lastId = 0
  let stopping = false

  await new Promise<void>((resolve, reject) => {
    worker.on('error', (cause: Error) => {
      reject(cause)
      onBroken(`a thread that serves failed: ${cause.message}`)
    })
    worker.on('exit', () => {
      reject(new Error('a thread that serves stopped before it listened'))
      for (const answer of asked.values()) answer([])
      if (!stopping) onBroken('a thread that serves stopped')
    })
    worker.on('message', (message: FromFront) => {
      if (message.is === 'listening') return resolve()
      asked.get(message.id)?.(message.metrics)
      asked.delete(message.id)
      return undefined
    })
  })

  return {
    metrics() {
      const id = ++lastId
      return new Promise((resolve) => {
        asked.set(id, resolve)
        tell({ is: 'metrics', id })
      })
    },
    async stop() {
      stopping = true
      tell({ is: 'close' })
      await exited
    },
  }
}
