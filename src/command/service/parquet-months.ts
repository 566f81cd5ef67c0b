import { Worker } from 'node:worker_threads'
import type { Registry } from 'prom-client'
import { parquetFolder, removeMakingParquet } from '../../log/parquet/parquet-folder.ts'
import type { LogReader, ParquetFile } from '../../log/store/reader.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import { type Month, monthOf } from '../../protocol/moment.ts'
import { openThreadLink } from '../../publish/thread-link.ts'
import type { NoParquet, ParquetFiles } from '../../serve/archive/parquet-reply.ts'
import { gauge } from '../../serve/metrics/metrics.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import type { ParquetThreadSettings, ReadyParquet, ToParquetThread } from './parquet-thread.ts'

/** Milliseconds without a task after which the thread ends, to free its memory. */
const IDLE_MS = 60_000
/** Milliseconds from a start to the search for months without a file. */
const WARM_MS = 5_000
/** Milliseconds for which a file is not tried again after it was not made. */
const RETRY_MS: Readonly<Record<NoParquet, number>> = { 'no-room': 60_000, failed: 600_000 }

/** Limits of the thread's heap. It holds one row group. */
const MEMORY = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 16 }

/** The Parquet files of a process. One is made at a time, and all callers of a month share it. */
type ParquetMonths = ParquetFiles &
  AsyncDisposable &
  Readonly<{
    /** Makes the missing files from now on: soon, and whenever a month has closed. */
    watch(reader: LogReader): Disposable
  }>

type Parts = Readonly<{
  data: string
  lines: LogLines
  registry: Registry
  monotonicMs(): number
}>

/** Opens the files without starting the thread. */
export function openParquetMonths({ data, lines, registry, monotonicMs }: Parts): ParquetMonths {
  const known = new Map<Month, ParquetFile>()
  const asked = new Map<Month, Promise<ParquetFile | NoParquet>>()
  const refused = new Map<Month, Readonly<{ untilMs: number; outcome: NoParquet }>>()
  let thread: ParquetThread | undefined
  let last: Promise<unknown> = Promise.resolve()
  let idle: NodeJS.Timeout | undefined
  let missing = 0
  let stopped = false
  gauge(registry, 'daybook_parquet_missing', 'Closed months without their Parquet file', () => missing)

  /** Runs a task of the thread after all earlier ones. A thread that fails is replaced for the next task. */
  function inTurn<T>(task: (thread: ParquetThread) => Promise<T>): Promise<T> {
    const turn = last.then(async () => {
      if (stopped) throw new Error('the service stops')
      clearTimeout(idle)
      if (thread?.failed() !== false) thread = startThread({ data })
      try {
        return await task(thread)
      } finally {
        clearTimeout(idle)
        idle = setTimeout(close, IDLE_MS).unref()
      }
    })
    last = turn.catch(() => undefined)
    return turn
  }

  function close(): void {
    thread?.close()
    thread = undefined
  }

  async function make(month: Month): Promise<ParquetFile | NoParquet> {
    const beganMs = monotonicMs()
    try {
      const ready = await inTurn((present) => present.ready(month))
      for (const file of ready.damaged) lines.say('parquet-damaged', { month, file })
      if (ready.is === 'no-room') {
        lines.say('parquet-failed', { month, reason: ready.reason })
        return refuse(month, 'no-room')
      }
      const { bytes } = ready.file
      if (ready.is === 'made')
        lines.say('parquet-made', { month, bytes, ms: Math.round(monotonicMs() - beganMs) })
      known.set(month, ready.file)
      refused.delete(month)
      return ready.file
    } catch (error) {
      if (stopped) throw error
      lines.say('parquet-failed', { month, reason: reasonOf(error) })
      return refuse(month, 'failed')
    }
  }

  function refuse(month: Month, outcome: NoParquet): NoParquet {
    refused.set(month, { untilMs: monotonicMs() + RETRY_MS[outcome], outcome })
    return outcome
  }

  async function fileOf(month: Month): Promise<ParquetFile | NoParquet> {
    const found = known.get(month)
    if (found !== undefined) return found
    const refusal = refused.get(month)
    if (refusal !== undefined && monotonicMs() < refusal.untilMs) return refusal.outcome
    const making = asked.get(month) ?? make(month).finally(() => asked.delete(month))
    asked.set(month, making)
    return await making
  }

  /** Makes all missing files, one after the other. Returns false when one was not made. */
  async function makeMissing(): Promise<boolean> {
    const months = await inTurn((present) => present.missing())
    missing = months.length
    for (const month of months) {
      const made = await fileOf(month).catch(() => 'failed' as const)
      if (typeof made === 'object') missing -= 1
    }
    return missing === 0
  }

  return {
    file: fileOf,
    lost({ month, path }) {
      if (known.get(month)?.path === path) known.delete(month)
    },
    watch(reader) {
      let newest = ''
      let timer: NodeJS.Timeout | undefined
      const soon = (waitMs: number): void => {
        clearTimeout(timer)
        timer = setTimeout(() => void look(), waitMs).unref()
      }
      async function look(): Promise<void> {
        const whole = await makeMissing().catch((error: unknown) => {
          if (!stopped) lines.say('read-failed', { of: 'parquet', err: error })
          return false
        })
        if (!stopped && !whole) soon(RETRY_MS['no-room'])
      }
      const unwatch = reader.onHead(({ atMs }) => {
        const month = atMs === null ? '' : monthOf(atMs)
        if (month === newest) return
        newest = month
        soon(WARM_MS)
      })
      soon(WARM_MS)
      return {
        [Symbol.dispose]() {
          clearTimeout(timer)
          unwatch()
        },
      }
    },
    async [Symbol.asyncDispose]() {
      stopped = true
      clearTimeout(idle)
      await thread?.end()
      try {
        removeMakingParquet(parquetFolder(data))
      } catch {
        // The next start removes them. A line has told of the folder.
      }
    },
  }
}

type ParquetThread = Readonly<{
  missing(): Promise<readonly Month[]>
  ready(month: Month): Promise<ReadyParquet>
  failed(): boolean
  /** Ends it after its tasks. */
  close(): void
  /** Ends it at once. */
  end(): Promise<unknown>
}>

function startThread(settings: ParquetThreadSettings): ParquetThread {
  const worker = new Worker(new URL(import.meta.resolve('./parquet-thread.ts')), {
    workerData: settings,
    resourceLimits: MEMORY,
  })
  const link = openThreadLink<{ sent: ToParquetThread; received: {} }>(worker, {})
  let failed = false
  const fail = (error: unknown): void => {
    failed = true
    link.fail(error)
  }
  worker.on('error', fail)
  worker.on('exit', () => fail(new Error('the thread that makes Parquet files stopped')))
  // The thread alone must not keep the process alive. A new listener would undo this.
  worker.unref()
  return {
    missing: () => link.ask('missing'),
    ready: (month) => link.ask('ready', month),
    failed: () => failed,
    close: () => link.send('close'),
    end: () => worker.terminate(),
  }
}
