import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import { assert } from '../../protocol/brand.ts'
import { openThreadLink } from '../../publish/thread-link.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import { msOf } from '../../protocol/moment.ts'
import type { ParquetFiles } from '../../serve/archive/parquet-reply.ts'
import type { FactName } from '../log-lines/facts.ts'
import { type LineChoice, type LineValues, openLines } from '../log-lines/log-lines.ts'
import { type FrontSettings, openFront, isReadable } from './front.ts'
import type { FrontMemory } from './front-memory.ts'

/** Settings that the thread starts with. */
export type FrontThreadSettings = Readonly<{
  settings: FrontSettings
  memory: FrontMemory
  lineChoice: LineChoice
}>

/** Metrics of a thread, ready to be summed. */
export type ThreadMetrics = readonly MetricObjectWithValues<MetricValue<string>>[]

/** Answer to a request for the metrics of a thread. */
export type MetricsAnswer = Readonly<{ metrics: ThreadMetrics }> | Readonly<{ failed: string }>

/** Messages to the main thread. */
export type FromFront = Readonly<{
  listening(): void
  broken(reason: string): void
  line(name: FactName, values: LineValues): void
  /** The Parquet file of a closed month. */
  parquet: ParquetFiles['file']
  parquetLost: ParquetFiles['lost']
}>

/** Messages of the main thread. */
export type ToFront = Readonly<{
  metrics(): Promise<MetricsAnswer>
  /** Whether the store can be read. */
  readable(): boolean
  /** Begins the drain. Settles when this thread has no stream. */
  endStreams(): Promise<void>
  /** Closes idle connections from now on. Settles when the answers have ended. */
  endAnswers(): Promise<void>
  close(): void
}>

/**
 * Runs a further serving thread on the same port (`--workers`), with its own reader. It shares allowance and counts
 * with the others. This is the composition root of the thread, so it may read the clock.
 */
async function run(port: MessagePort, { settings, memory, lineChoice }: FrontThreadSettings): Promise<void> {
  const registry = new Registry()
  let drained: Promise<void> | undefined
  const quiet = Promise.withResolvers<void>()
  const link = openThreadLink<{ sent: FromFront; received: ToFront }>(port, {
    metrics: () => metricsOf(registry),
    readable: () => isReadable(front.reader),
    endStreams() {
      drained = front.drain(quiet.promise)
      return front.endStreams()
    },
    async endAnswers() {
      quiet.resolve()
      await drained
    },
    async close() {
      await front[Symbol.asyncDispose]()
      lines.flush()
      port.close()
    },
  })
  // The same clock as in the main thread, because the allowance compares times of all threads.
  const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000
  // Limited here too, because messages are costly.
  const lines = openLines((name, values) => link.send('line', name, values), monotonicMs, lineChoice)
  // The main thread then drains and ends the whole service. This thread continues until then.
  process.on('unhandledRejection', (error) => link.send('broken', reasonOf(error)))
  const front = await openFront(settings, memory, {
    context: {
      now: () => msOf(Date.now()),
      monotonicMs,
      random: Math.random,
    },
    lines,
    registry,
    parquet: {
      file: (month) => link.ask('parquet', month),
      lost: (file) => link.send('parquetLost', file),
    },
  })
  link.send('listening')
}

async function metricsOf(registry: Registry): Promise<MetricsAnswer> {
  try {
    return { metrics: await registry.getMetricsAsJSON() }
  } catch (error) {
    return { failed: reasonOf(error) }
  }
}

assert(parentPort !== null, 'a front runs in a thread of its own')
const threadSettings: FrontThreadSettings = workerData
await run(parentPort, threadSettings)
