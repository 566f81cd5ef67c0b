import { Worker } from 'node:worker_threads'
import { StoreError } from '../../log/store/store.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { ClockFault } from '../guards/clock-guard.ts'
import type { PublishOutcome } from './door.ts'
import type { DoorReport } from './door-replies.ts'
import { notMade, type OperationsAnswer, type OperationsPath } from './operations.ts'
import { LATE, openQuestions } from './questions.ts'
import { WriterRefusal } from './tx-judge.ts'
import type { FromWriter, ToWriter, WriterSettings } from './writer-messages.ts'
import type { Committed, CommittedHeld } from '../commit-queue.ts'

/** Listeners of the main thread to the writer. */
export type WriterListeners = Readonly<{
  onCommitted(committed: Committed): void
  /** Called after a commit that only holds drafts. */
  onHeld(held: CommittedHeld): void
  /** Called with the number of publish requests that had this outcome. */
  onRequests(outcome: PublishOutcome, count: number): void
  /** Called for each refusal of the private listener, and for each accepted request if that is wanted. */
  onAnswered(answer: DoorReport): void
  /** Called when the private listener ended a connection to make room for another. */
  onCrowded(): void
  /** Called when a draft with a wrong order or balance was published (`--balances report`). */
  onIrregular(field: string): void
  /** Called when an error of the service prevented an answer of the private listener. */
  onFailure(reason: string, answer: DoorReport | null): void
  /** Called when the store must not be written any more. The service must stop. */
  onBroken(reason: string): void
  /** Called when the disk has become full, or has room again. */
  onRoom(room: boolean): void
  /** Called once, with the path, when a file of the store was replaced or removed. */
  onReplaced(file: string): void
  /** Called when the clock can no longer be believed, or can again (null). */
  onClock(fault: ClockFault | null): void
  /** Called after events of other nodes were applied. */
  onFollowed(followed: Readonly<{ seq: Seq; atMs: Ms; events: number }>): void
  /** Called with news of the machines that carry the log. */
  onCarrier(news: object): void
  /** Called with news of the judge of transactions. */
  onJudge(news: object): void
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

async function answerOf(
  { operations, onFailure }: WriterListeners,
  { path, accepting }: OperationsQuestion,
): Promise<OperationsAnswer> {
  try {
    return await operations(path, accepting)
  } catch (error) {
    // A scrape must not end the process.
    onFailure(reasonOf(error), null)
    return notMade(path)
  }
}

function tellRequests(
  { onRequests, onAnswered }: WriterListeners,
  { outcomes, answers }: Extract<FromWriter, { is: 'requests' }>,
): void {
  for (const [outcome, count] of outcomes) onRequests(outcome, count)
  for (const answer of answers) onAnswered(answer)
}

/** News of the writer, which need no answer. */
type WriterNews = Exclude<FromWriter, { is: 'listening' | 'operations' | 'barrier' | 'refused' | 'unusable' }>

function tellListeners(listeners: WriterListeners, message: WriterNews): void {
  switch (message.is) {
    case 'committed':
      return listeners.onCommitted(message.committed)
    case 'held':
      return listeners.onHeld(message.held)
    case 'requests':
      return tellRequests(listeners, message)
    case 'crowded':
      return listeners.onCrowded()
    case 'irregular':
      return listeners.onIrregular(message.field)
    case 'failure':
      return listeners.onFailure(message.reason, message.answer)
    case 'broken':
      return listeners.onBroken(message.reason)
    case 'room':
      return listeners.onRoom(message.room)
    case 'replaced':
      return listeners.onReplaced(message.file)
    case 'clock':
      return listeners.onClock(message.fault)
    case 'followed':
      return listeners.onFollowed(message)
    case 'carrier':
      return listeners.onCarrier(message.news)
    case 'judge':
      return listeners.onJudge(message.news)
  }
}

type OperationsQuestion = Extract<FromWriter, { is: 'operations' }>

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
  const tell = (message: ToWriter): void => worker.postMessage(message)
  // `once` of node:events would reject when the thread fails. The 'error' listener below reports that.
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const heads = openQuestions<Seq | null>()
  let closing = false
  const giveUp = (): void => {
    closing = true
    tell({ is: 'close' })
  }
  stop?.addEventListener('abort', giveUp, { once: true })

  const port = await new Promise<number>((resolve, reject) => {
    worker.on('error', (cause: Error) => {
      reject(cause)
      listeners.onBroken(`the writer's thread failed: ${reasonOf(cause)}`)
    })
    worker.on('exit', () => {
      const isStopped = stop?.aborted === true
      reject(
        isStopped
          ? new WriterRefusal('the service was stopped before it had started')
          : new Error('the writer stopped before it listened'),
      )
      if (!closing) listeners.onBroken('the writer stopped')
    })
    worker.on('message', (message: FromWriter) => {
      if (message.is === 'listening') return resolve(message.port)
      if (message.is === 'operations') return void answer(message)
      if (message.is === 'barrier') return heads.answer(message.id, message.seq)
      if (message.is !== 'refused' && message.is !== 'unusable') return tellListeners(listeners, message)
      closing = true
      const Failure = message.is === 'refused' ? WriterRefusal : StoreError
      return reject(new Failure(message.reason))
    })
  })
  stop?.removeEventListener('abort', giveUp)

  async function answer(question: OperationsQuestion): Promise<void> {
    tell({ is: 'operations', id: question.id, answer: await answerOf(listeners, question) })
  }

  return {
    port,
    stop: () => tell({ is: 'stopping' }),
    async barrier(msMax) {
      const seq = await heads.ask(msMax, (id) => tell({ is: 'barrier', id }))
      return seq === LATE ? null : seq
    },
    async kill() {
      closing = true
      await worker.terminate()
    },
    async [Symbol.asyncDispose]() {
      closing = true
      tell({ is: 'close' })
      const late = setTimeout(() => void worker.terminate(), END_MS_MAX)
      await exited
      clearTimeout(late)
    },
  }
}
