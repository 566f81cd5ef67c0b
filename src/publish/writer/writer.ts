import { Worker } from 'node:worker_threads'
import { StoreError } from '../../log/store/store.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import type { Seq } from '../../protocol/seq.ts'
import { notMade, type OperationsAnswer, type OperationsPath } from '../api/operations.ts'
import { LATE, openQuestions } from '../api/questions.ts'
import { WriterRefusal } from '../tx-judge.ts'
import type { FromWriter, ToWriter, WriterEvents, WriterSettings } from './writer-messages.ts'

type EventListeners = { readonly [Name in keyof WriterEvents]: (event: WriterEvents[Name]) => void }

/** Listeners of the main thread to the writer: one for each event. */
export type WriterListeners = EventListeners &
  Readonly<{
    /** Answers a question that only the main thread can answer. `accepting`: whether the writer accepts publishes. */
    operations(path: OperationsPath, accepting: boolean): Promise<OperationsAnswer>
  }>

export type Writer = Readonly<{
  /** The private listener's port. */
  port: number
  /** Refuses all further publish requests. The private listener answers until the writer is disposed. */
  stop(): void
  /** Head of the whole log at a moment after the call; null when that cannot be known within `msMax`. */
  barrier(msMax: number): Promise<Seq | null>
  /** Stops at once, like a crash. Nothing more is signed. */
  kill(): Promise<void>
}> &
  AsyncDisposable

/** Module of the thread that writes the log of this node alone. */
const OWN_THREAD = new URL(import.meta.resolve('./writer-thread.ts'))

/** Longest end of the writer, in milliseconds. A thread that others still hold is cut off: its commits are durable. */
const END_MS_MAX = 20_000

/**
 * Starts the writer's thread. Resolves when it is listening. Throws `WriterRefusal` for settings that cannot work, and
 * `StoreError` for a store or disk that cannot be used. A writer may wait for the machines that carry its log, or for its
 * judge of transactions; `stop` ends that.
 */
export async function startWriter(
  settings: WriterSettings,
  listeners: WriterListeners,
  { thread = OWN_THREAD, stop }: Readonly<{ thread?: URL; stop?: AbortSignal }> = {},
): Promise<Writer> {
  const worker = new Worker(thread, { workerData: settings })
  const send = (message: ToWriter): void => worker.postMessage(message)
  // `once` of node:events would reject when the thread fails. The 'error' listener below reports that.
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const heads = openQuestions<Seq | null>()
  let closing = false
  const giveUp = (): void => {
    closing = true
    send({ is: 'close' })
  }
  stop?.addEventListener('abort', giveUp, { once: true })

  const port = await new Promise<number>((resolve, reject) => {
    worker.on('error', (cause: Error) => {
      reject(cause)
      listeners.broken(`the writer's thread failed: ${reasonOf(cause)}`)
    })
    worker.on('exit', () => {
      const isStopped = stop?.aborted === true
      reject(
        isStopped
          ? new WriterRefusal('the service was stopped before it had started')
          : new Error('the writer stopped before it listened'),
      )
      if (!closing) listeners.broken('the writer stopped')
    })
    worker.on('message', (message: FromWriter) => {
      switch (message.is) {
        case 'event':
          return dispatch(listeners, message)
        case 'listening':
          return resolve(message.port)
        case 'operations':
          return void answer(message.id, message.path, message.accepting)
        case 'barrier':
          return heads.answer(message.id, message.seq)
        case 'refused':
        case 'unusable': {
          closing = true
          const Failure = message.is === 'refused' ? WriterRefusal : StoreError
          return reject(new Failure(message.reason))
        }
      }
    })
  })
  stop?.removeEventListener('abort', giveUp)

  async function answer(id: number, path: OperationsPath, accepting: boolean): Promise<void> {
    try {
      send({ is: 'operations', id, answer: await listeners.operations(path, accepting) })
    } catch (error) {
      // A scrape must not end the process.
      listeners.failure({ reason: reasonOf(error), report: null })
      send({ is: 'operations', id, answer: notMade(path) })
    }
  }

  return {
    port,
    stop: () => send({ is: 'stopping' }),
    async barrier(msMax) {
      const seq = await heads.ask(msMax, (id) => send({ is: 'barrier', id }))
      return seq === LATE ? null : seq
    },
    async kill() {
      closing = true
      await worker.terminate()
    },
    async [Symbol.asyncDispose]() {
      closing = true
      send({ is: 'close' })
      const late = setTimeout(() => void worker.terminate(), END_MS_MAX)
      await exited
      clearTimeout(late)
    },
  }
}

function dispatch<Name extends keyof WriterEvents>(
  listeners: EventListeners,
  { name, event }: Readonly<{ name: Name; event: WriterEvents[Name] }>,
): void {
  listeners[name](event)
}
