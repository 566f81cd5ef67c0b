import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { assert } from '../../protocol/brand.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { Question } from '../../serve/exchange/thread-question.ts'
import type { Reply } from '../../serve/http/route.ts'
import { ANSWER_MS_MAX } from '../../serve/metrics/underway.ts'
import type { Script } from '../../web/assets/bundle-cache.ts'
import type { AnswerThreadSettings, FromAnswerThread, ToAnswerThread } from './answer-thread.ts'

/** Threads that make answers for one serving thread: one caller never has them both (`openFairPlaces`). */
export const ANSWER_THREADS = 2

/** Milliseconds after which all threads are started, asked or not: a start takes a quarter of a second. */
const WARM_MS = 2_000

/** A reply, the head that it was made at, and the milliseconds of a processor that it took. */
type Answered = Readonly<{ reply: Reply; head: Seq; tookMs: number }>

/** The threads that make answers; each is started when a question first needs it, or after `WARM_MS`. */
export type AnswerThreads = AsyncDisposable &
  Readonly<{
    /**
     * Hands a question to a thread that is free; never more than `ANSWER_THREADS` at once. Throws what the answer throws,
     * and when the thread fails or is late: another then takes its place, for it only reads.
     */
    ask(question: Question): Promise<Answered>
  }>

type Tools = Readonly<{
  /** The scripts of pages, bundled once for all threads. */
  scripts(): Promise<readonly Script[]>
  /** A question is given up after so long, and its thread ended. */
  answerMsMax?: number
}>

/** Opens the threads; none is started yet. */
export function openAnswerThreads(settings: () => AnswerThreadSettings, tools: Tools): AnswerThreads {
  const free: AnswerThread[] = []
  const all = new Set<AnswerThread>()

  function start(): AnswerThread {
    assert(all.size < ANSWER_THREADS, `at most ${ANSWER_THREADS} questions are asked at once`)
    const started = startAnswerThread(settings(), tools)
    all.add(started)
    return started
  }
  const warming = setTimeout(() => {
    while (all.size < ANSWER_THREADS) free.push(start())
  }, WARM_MS).unref()

  /** The thread that has been free longest, so that each stays warm. */
  function take(): AnswerThread {
    for (let thread = free.shift(); thread !== undefined; thread = free.shift()) {
      if (thread.lives()) return thread
      all.delete(thread)
    }
    return start()
  }

  return {
    async ask(question) {
      const thread = take()
      try {
        return await thread.ask(question)
      } finally {
        if (thread.lives()) free.push(thread)
        else all.delete(thread)
      }
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(warming)
      await Promise.all([...all].map((thread) => thread.stop()))
    },
  }
}

type AnswerThread = Readonly<{
  ask(question: Question): Promise<Answered>
  lives(): boolean
  stop(): Promise<void>
}>

function startAnswerThread(
  settings: AnswerThreadSettings,
  { scripts, answerMsMax = ANSWER_MS_MAX }: Tools,
): AnswerThread {
  const worker = new Worker(new URL(import.meta.resolve('./answer-thread.ts')), { workerData: settings })
  const exited = once(worker, 'exit').catch(() => undefined)
  const asked = new Map<number, PromiseWithResolvers<Answered>>()
  const tell = (message: ToAnswerThread): void => worker.postMessage(message)
  let lastId = 0
  let failure: Error | undefined

  /** The first reason holds: an end follows upon it. */
  function fail(reason: string, cause?: unknown): void {
    failure ??= new Error(reason, { cause })
    for (const one of asked.values()) one.reject(failure)
    asked.clear()
    void worker.terminate()
  }
  worker.on('error', (cause) => fail('a thread that makes answers failed', cause))
  worker.on('exit', () => fail('a thread that makes answers stopped'))
  worker.on('message', (message: FromAnswerThread) => {
    switch (message.is) {
      case 'answer':
        return asked.get(message.id)?.resolve(message)
      case 'failed':
        return asked.get(message.id)?.reject(message.error)
      case 'scripts-wanted':
        scripts().then(
          (made) => tell({ is: 'scripts', scripts: made }),
          (cause: unknown) => fail('the scripts of pages cannot be made', cause),
        )
        return undefined
    }
  })

  return {
    async ask(question) {
      if (failure !== undefined) throw failure
      const id = ++lastId
      const answered = Promise.withResolvers<Answered>()
      asked.set(id, answered)
      const late = setTimeout(() => fail(`an answer took more than ${answerMsMax} ms`), answerMsMax)
      try {
        tell({ is: 'question', id, question })
        return await answered.promise
      } finally {
        clearTimeout(late)
        asked.delete(id)
      }
    },
    lives: () => failure === undefined,
    async stop() {
      tell({ is: 'close' })
      await exited
    },
  }
}
