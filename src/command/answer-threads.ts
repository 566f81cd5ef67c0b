import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { assert } from '../protocol/brand.ts'
import type { Seq } from '../protocol/seq.ts'
import type { Question } from '../serve/answerer.ts'
import type { Reply } from '../serve/route.ts'
import type { Script } from '../serve/web/bundle-cache.ts'
import type { AnswerThreadSettings, FromAnswerThread, ToAnswerThread } from './answer-thread.ts'

/** Threads that make answers for one serving thread: one caller never has them both (`openFairPlaces`). */
export const ANSWER_THREADS = 2

/** Milliseconds after which all threads are started, asked or not: a start takes a quarter of a second. */
const WARM_MS = 2_000

/** The threads that make answers; each is started when a question first needs it, or after `WARM_MS`. */
export type AnswerThreads = AsyncDisposable &
  Readonly<{
    /** Hands a question to a thread that is free; never more than `ANSWER_THREADS` at once. */
    ask(question: Question): Promise<Answered>
  }>

type Tools = Readonly<{
  /** The scripts of pages, bundled once for all threads. */
  scripts(): Promise<readonly Script[]>
  /** Told when a thread stops by itself: the service must stop too. */
  onBroken(reason: string): void
}>

/** Opens the threads; none is started yet. */
export function openAnswerThreads(settings: () => AnswerThreadSettings, tools: Tools): AnswerThreads {
  const free: AnswerThread[] = []
  const all: AnswerThread[] = []

  function start(): AnswerThread {
    assert(all.length < ANSWER_THREADS, `at most ${ANSWER_THREADS} questions are asked at once`)
    const started = startAnswerThread(settings(), tools)
    all.push(started)
    return started
  }
  const warming = setTimeout(() => {
    while (all.length < ANSWER_THREADS) free.push(start())
  }, WARM_MS).unref()

  return {
    async ask(question) {
      // The one that has been free longest, so that each stays warm.
      const thread = free.shift() ?? start()
      try {
        return await thread.ask(question)
      } finally {
        free.push(thread)
      }
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(warming)
      await Promise.all(all.map((thread) => thread.stop()))
    },
  }
}

/** A reply, the head that it was made at, and the milliseconds of a processor that it took. */
type Answered = Readonly<{ reply: Reply; head: Seq; tookMs: number }>
type AnswerThread = Readonly<{ ask(question: Question): Promise<Answered>; stop(): Promise<void> }>

function startAnswerThread(settings: AnswerThreadSettings, { scripts, onBroken }: Tools): AnswerThread {
  const worker = new Worker(new URL(import.meta.resolve('./answer-thread.ts')), { workerData: settings })
  const exited = once(worker, 'exit')
  const asked = new Map<number, PromiseWithResolvers<Answered>>()
  const tell = (message: ToAnswerThread): void => worker.postMessage(message)
  let lastId = 0
  let stopping = false

  function stopped(reason: string): void {
    for (const one of asked.values()) one.reject(new Error(reason))
    asked.clear()
    if (!stopping) onBroken(reason)
  }
  worker.on('error', (cause: Error) => stopped(`a thread that makes answers failed: ${cause.message}`))
  worker.on('exit', () => stopped('a thread that makes answers stopped'))
  worker.on('message', (message: FromAnswerThread) => {
    switch (message.is) {
      case 'answer':
        asked.get(message.id)?.resolve(message)
        asked.delete(message.id)
        break
      case 'failed':
        asked.get(message.id)?.reject(message.error)
        asked.delete(message.id)
        break
      case 'scripts-wanted':
        scripts().then(
          (made) => tell({ is: 'scripts', scripts: made }),
          (error: unknown) => stopped(`the scripts of pages cannot be made: ${String(error)}`),
        )
        break
    }
  })
  // A question that waits keeps the process; an idle thread does not.
  return {
    ask(question) {
      const id = ++lastId
      const answered = Promise.withResolvers<Answered>()
      asked.set(id, answered)
      tell({ is: 'question', id, question })
      return answered.promise
    },
    async stop() {
      stopping = true
      tell({ is: 'close' })
      await exited.catch(() => undefined)
    },
  }
}
