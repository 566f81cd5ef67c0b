import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { assert } from '../../protocol/brand.ts'
import { LATE, openThreadLink } from '../../publish/thread-link.ts'
import type { AnswerJob } from '../../serve/request/answer-job.ts'
import { ANSWER_MS_MAX } from '../../serve/request/answer-deadlines.ts'
import type { Script } from '../../web/assets/scripts.ts'
import type { AnswerThreadSettings, FromAnswerThread, MadeAnswer, ToAnswerThread } from './answer-thread.ts'

/** Answer threads of one serving thread. One caller never occupies both (`openFairPlaces`). */
export const ANSWER_THREADS = 2

/** Milliseconds after which all threads start. A start takes a quarter of a second. */
const WARM_MS = 2_000

/** Threads that make answers. A thread starts when a job first needs it, or after `WARM_MS`. */
type AnswerThreads = AsyncDisposable &
  Readonly<{
    /**
     * Runs a job on a free thread; at most `ANSWER_THREADS` jobs may be open. Rejects with the error of the answer, or
     * when the thread fails or is late. A new thread then replaces it. That loses nothing, because threads only read.
     */
    make(job: AnswerJob): Promise<MadeAnswer>
  }>

type Tools = Readonly<{
  /** Scripts of the pages, bundled once for all threads. */
  scripts(): Promise<readonly Script[]>
  /** Timeout of a job in milliseconds, after which its thread ends. */
  answerMsMax?: number
}>

/** Opens the threads without starting one. */
export function openAnswerThreads(settings: () => AnswerThreadSettings, tools: Tools): AnswerThreads {
  const free: AnswerThread[] = []
  const all = new Set<AnswerThread>()

  function start(): AnswerThread {
    assert(all.size < ANSWER_THREADS, `at most ${ANSWER_THREADS} jobs are open at once`)
    const started = startAnswerThread(settings(), tools)
    all.add(started)
    return started
  }
  const warming = setTimeout(() => {
    while (all.size < ANSWER_THREADS) free.push(start())
  }, WARM_MS).unref()

  /** Takes the thread that has been idle longest, so that all stay warm. */
  function take(): AnswerThread {
    for (let thread = free.shift(); thread !== undefined; thread = free.shift()) {
      if (thread.lives()) return thread
      all.delete(thread)
    }
    return start()
  }

  return {
    async make(job) {
      const thread = take()
      try {
        return await thread.make(job)
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
  make(job: AnswerJob): Promise<MadeAnswer>
  lives(): boolean
  stop(): Promise<void>
}>

function startAnswerThread(
  settings: AnswerThreadSettings,
  { scripts, answerMsMax = ANSWER_MS_MAX }: Tools,
): AnswerThread {
  const worker = new Worker(new URL(import.meta.resolve('./answer-thread.ts')), { workerData: settings })
  const exited = once(worker, 'exit').catch(() => undefined)
  let failure: Error | undefined
  const link = openThreadLink<{ sent: ToAnswerThread; received: FromAnswerThread }>(worker, {
    async scripts() {
      try {
        return await scripts()
      } catch (cause) {
        throw fail('the scripts of pages cannot be made', cause)
      }
    },
  })

  /** Ends the thread. The first failure counts, because ending the thread causes another. */
  function fail(reason: string, cause?: unknown): Error {
    failure ??= new Error(reason, { cause })
    link.fail(failure)
    void worker.terminate()
    return failure
  }
  worker.on('error', (cause) => fail('a thread that makes answers failed', cause))
  worker.on('exit', () => fail('a thread that makes answers stopped'))

  return {
    async make(job) {
      if (failure !== undefined) throw failure
      const made = await link.askWithin(answerMsMax, 'make', job)
      if (made === LATE) throw fail(`an answer took more than ${answerMsMax} ms`)
      return made
    },
    lives: () => failure === undefined,
    async stop() {
      link.send('close')
      await exited
    },
  }
}
