import { Worker } from 'node:worker_threads'
import { reasonOf } from '../../protocol/error-reason.ts'
import type { Committed } from './commit-queue.ts'
import type { PublishOutcome } from './door.ts'
import type { OperationsAnswer, OperationsPath } from './operations.ts'
import { notMade } from './operations.ts'
import type { FromWriter, ToWriter, WriterSettings } from './writer-messages.ts'

/** What the main thread hears from the writer. */
export type WriterListeners = Readonly<{
  onCommitted(committed: Committed): void
  /** So many publish requests ended in this way. */
  onRequests(outcome: PublishOutcome, count: number): void
  /** A draft was published though the books refuse it (`--balances report`). */
  onIrregular(field: string): void
  /** A request on the private listener could not be answered for a reason of our own. */
  onFailure(reason: string): void
  /** The store failed in a way after which it must not be written: stop the service. */
  onBroken(reason: string): void
  /** The disk is full, or has room again. */
  onRoom(room: boolean): void
  /** Answers for the private listener what the writer cannot know; `accepting` is whether it takes publishes. */
  operations(path: OperationsPath, accepting: boolean): Promise<OperationsAnswer>
}>

export type Writer = Readonly<{
  /** The private listener's port. */
  port: number
  /** Takes no publish request any more: the service stops. The private listener answers until the writer is closed. */
  stop(): void
  /** Stops at once, whatever is under way, as a crash would: nothing more is signed. */
  kill(): Promise<void>
}> &
  AsyncDisposable

type Asked = Extract<FromWriter, { is: 'operations' }>

/** Starts the writer in a thread of its own; it is listening when this resolves, and rejects when it cannot. */
export async function startWriter(settings: WriterSettings, listeners: WriterListeners): Promise<Writer> {
  const worker = new Worker(new URL(import.meta.resolve('./writer-thread.ts')), { workerData: settings })
  const tell = (message: ToWriter): void => worker.postMessage(message)
  // Not `once`: it would reject at the thread's failure, which is told below, with nobody there to listen.
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let closing = false

  const port = await new Promise<number>((resolve, reject) => {
    worker.on('error', (cause: Error) => {
      reject(cause)
      listeners.onBroken(`the writer's thread failed: ${reasonOf(cause)}`)
    })
    worker.on('exit', () => {
      reject(new Error('the writer stopped before it listened'))
      if (!closing) listeners.onBroken('the writer stopped')
    })
    worker.on('message', (message: FromWriter) => {
      switch (message.is) {
        case 'listening':
          return resolve(message.port)
        case 'committed':
          return listeners.onCommitted(message.committed)
        case 'requests':
          return message.outcomes.forEach((count, outcome) => listeners.onRequests(outcome, count))
        case 'irregular':
          return listeners.onIrregular(message.field)
        case 'failure':
          return listeners.onFailure(message.reason)
        case 'broken':
          return listeners.onBroken(message.reason)
        case 'operations':
          return void answer(message)
        case 'room':
          return listeners.onRoom(message.room)
      }
    })
  })

  async function answer({ id, path, accepting }: Asked): Promise<void> {
    try {
      tell({ is: 'operations', id, answer: await listeners.operations(path, accepting) })
    } catch (error) {
      // A scrape must not end the process.
      listeners.onFailure(reasonOf(error))
      tell({ is: 'operations', id, answer: notMade(path) })
    }
  }

  return {
    port,
    stop: () => tell({ is: 'stopping' }),
    async kill() {
      closing = true
      await worker.terminate()
    },
    async [Symbol.asyncDispose]() {
      closing = true
      tell({ is: 'close' })
      await exited
    },
  }
}
