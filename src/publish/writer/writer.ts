import { Worker } from 'node:worker_threads'
import { StoreError } from '../../log/store/store.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import type { Seq } from '../../protocol/seq.ts'
import { notMade } from '../api/operations.ts'
import { WriterRefusal } from '../tx-judge.ts'
import { LATE, openThreadLink } from '../thread-link.ts'
import type { FromWriter, ToWriter, WriterSettings } from './writer-messages.ts'

/** Listeners of the main thread for messages of a listening writer, one for each kind. */
export type WriterListeners = Omit<FromWriter, 'listening' | 'refused' | 'unusable'>

export type Writer = Readonly<{
  /** The private listener's port. */
  port: number
  /** Refuses all further publish requests. The private listener answers until the writer is disposed. */
  stop(): void
  /** Head of the whole log, read after the call; null when it is unknown within `msMax`. */
  barrier(msMax: number): Promise<Seq | null>
  /** Stops immediately, as a crash does. Nothing more is signed. */
  kill(): Promise<void>
}> &
  AsyncDisposable

/** Module of the thread that writes the log of this node alone. */
const OWN_THREAD = new URL(import.meta.resolve('./writer-thread.ts'))

/**
 * Longest end of the writer, in milliseconds. A thread that does not end by then is terminated; its commits are
 * durable.
 */
const END_MS_MAX = 20_000

/**
 * Starts the writer's thread. Resolves when it is listening. Throws `WriterRefusal` for settings that cannot work, and
 * `StoreError` for a store or disk that cannot be used. A writer may wait for the machines that carry its log, or for
 * its judge of transactions; `stop` ends that wait.
 */
export async function startWriter(
  settings: WriterSettings,
  listeners: WriterListeners,
  { thread = OWN_THREAD, stop }: Readonly<{ thread?: URL; stop?: AbortSignal }> = {},
): Promise<Writer> {
  const worker = new Worker(thread, { workerData: settings })
  // `once` of node:events would reject when the thread fails, which the 'error' listener below reports.
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const listening = Promise.withResolvers<number>()
  let closing = false
  const refuse = (failure: Error): void => {
    closing = true
    listening.reject(failure)
  }
  const link = openThreadLink<{ sent: ToWriter; received: FromWriter }>(worker, {
    ...listeners,
    async operations(path, accepting) {
      try {
        return await listeners.operations(path, accepting)
      } catch (error) {
        // A scrape must not end the process.
        listeners.failure(reasonOf(error), null)
        return notMade(path)
      }
    },
    listening: listening.resolve,
    refused: (reason) => refuse(new WriterRefusal(reason)),
    unusable: (reason) => refuse(new StoreError(reason)),
  })
  worker.on('error', (cause: Error) => {
    listening.reject(cause)
    listeners.broken(`the writer's thread failed: ${reasonOf(cause)}`)
  })
  worker.on('exit', () => {
    listening.reject(
      stop?.aborted === true
        ? new WriterRefusal('the service was stopped before it had started')
        : new Error('the writer stopped before it listened'),
    )
    if (!closing) listeners.broken('the writer stopped')
  })
  const giveUp = (): void => {
    closing = true
    link.send('close')
  }
  stop?.addEventListener('abort', giveUp, { once: true })
  const port = await listening.promise
  stop?.removeEventListener('abort', giveUp)

  return {
    port,
    stop: () => link.send('stop'),
    async barrier(msMax) {
      const seq = await link.askWithin(msMax, 'barrier')
      return seq === LATE ? null : seq
    },
    async kill() {
      closing = true
      await worker.terminate()
    },
    async [Symbol.asyncDispose]() {
      closing = true
      link.send('close')
      const late = setTimeout(() => void worker.terminate(), END_MS_MAX)
      await exited
      clearTimeout(late)
    },
  }
}
