import { Worker } from 'node:worker_threads'
import { reasonOf } from '../../protocol/error-reason.ts'
import { THREAD_METRICS_MS_MAX, THREAD_READY_MS_MAX } from '../../publish/api/operations.ts'
import { type LATE, openThreadLink } from '../../publish/thread-link.ts'
import type { ParquetFiles } from '../../serve/archive/parquet-reply.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import type { FrontThreadSettings, FromFront, MetricsAnswer, ToFront } from './front-thread.ts'

/** Answer of one thread, or `LATE`. */
type ThreadAnswer<Answer> = Readonly<{ name: string; answer: Answer | typeof LATE }>

/** The further serving threads. */
export type FrontThreads = AsyncDisposable &
  Readonly<{
    /** Metrics of each thread. */
    metrics(): Promise<readonly ThreadAnswer<MetricsAnswer>[]>
    /** Whether each thread can read the store. */
    readable(): Promise<readonly ThreadAnswer<boolean>[]>
    /** Each thread refuses connections and ends its streams. Settles when none has a stream. */
    endStreams(): Promise<void>
    /**
     * Ends the answers of each thread, and closes idle connections when `quiet` settles. The threads still answer
     * questions of the main thread.
     */
    drain(quiet: Promise<void>): Promise<void>
  }>

/**
 * Starts `count` threads. Resolves when all of them listen. If one does not start, stops the others. `broken` is
 * called when one stops by itself. Then the whole service must stop, because the thread may have held a lock or slots
 * in the shared memory.
 */
export async function startFrontThreads(
  count: number,
  settings: FrontThreadSettings,
  {
    lines,
    parquet,
    broken: onBroken,
  }: Readonly<{ lines: LogLines; parquet: ParquetFiles; broken(reason: string): void }>,
): Promise<FrontThreads> {
  // The main thread is the first serving thread.
  const names = Array.from({ length: count }, (_, index) => `serving thread ${index + 2}`)
  const threads = await allOrNone(
    names.map((name) => startThread(name, settings, { lines, parquet, onBroken })),
  )
  return {
    metrics: () => Promise.all(threads.map((thread) => thread.metrics())),
    readable: () => Promise.all(threads.map((thread) => thread.readable())),
    async endStreams() {
      await Promise.all(threads.map((thread) => thread.endStreams()))
    },
    async drain(quiet) {
      await Promise.all(threads.map((thread) => thread.drain(quiet)))
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(threads.map((thread) => thread.stop()))
    },
  }
}

type Thread = Readonly<{
  metrics(): Promise<ThreadAnswer<MetricsAnswer>>
  readable(): Promise<ThreadAnswer<boolean>>
  endStreams(): Promise<void>
  drain(quiet: Promise<void>): Promise<void>
  stop(): Promise<void>
}>

/**
 * Returns the started threads. If one fails, stops the others, which would keep the process and its port, and throws.
 */
async function allOrNone(starting: readonly Promise<Thread>[]): Promise<readonly Thread[]> {
  const starts = await Promise.allSettled(starting)
  const threads = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  const failure = starts.find((start) => start.status === 'rejected')
  if (failure === undefined) return threads
  await Promise.all(threads.map((thread) => thread.stop()))
  throw failure.reason
}

async function startThread(
  name: string,
  settings: FrontThreadSettings,
  {
    lines,
    parquet,
    onBroken,
  }: Readonly<{ lines: LogLines; parquet: ParquetFiles; onBroken(reason: string): void }>,
): Promise<Thread> {
  const worker = new Worker(new URL(import.meta.resolve('./front-thread.ts')), { workerData: settings })
  // `once` would reject when the thread fails. A failed thread never reports that its streams have ended.
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const listening = Promise.withResolvers<void>()
  let stopping = false
  const link = openThreadLink<{ sent: ToFront; received: FromFront }>(worker, {
    listening: listening.resolve,
    broken: (reason) => onBroken(`a failure in ${name} that nothing waited for: ${reason}`),
    line: (fact, values) => lines.write(fact, values),
    parquet: parquet.file,
    parquetLost: parquet.lost,
  })
  worker.on('error', (cause: Error) => {
    listening.reject(cause)
    onBroken(`${name} failed: ${reasonOf(cause)}`)
  })
  worker.on('exit', () => {
    listening.reject(new Error(`${name} stopped before it listened`))
    if (!stopping) onBroken(`${name} stopped`)
  })
  await listening.promise

  return {
    metrics: async () => ({ name, answer: await link.askWithin(THREAD_METRICS_MS_MAX, 'metrics') }),
    readable: async () => ({ name, answer: await link.askWithin(THREAD_READY_MS_MAX, 'readable') }),
    async endStreams() {
      stopping = true
      await Promise.race([link.ask('endStreams'), exited])
    },
    async drain(quiet) {
      await quiet
      await Promise.race([link.ask('endAnswers'), exited])
    },
    async stop() {
      stopping = true
      link.send('close')
      await exited
    },
  }
}
