import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import { assert } from '../../protocol/brand.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import { msOf } from '../../protocol/moment.ts'
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
export type FromFront =
  | Readonly<{ is: 'listening'; port: number }>
  | Readonly<{ is: 'metrics'; id: number; answer: MetricsAnswer }>
  | Readonly<{ is: 'readable'; id: number; answer: boolean }>
  | Readonly<{ is: 'streamless' | 'drained' }>
  | Readonly<{ is: 'broken'; reason: string }>
  | Readonly<{ is: 'line'; name: FactName; values: LineValues }>

/** Messages from the main thread. */
export type ToFront =
  | Readonly<{ is: 'metrics' | 'readable'; id: number }>
  | Readonly<{ is: 'drain' | 'quiet' | 'close' }>

/**
 * A further serving thread on the same port (`--workers`), with its own reader; it shares allowance and counts with the
 * others. This is the composition root of the thread, so it may read the clock.
 */
async function run(port: MessagePort, { settings, memory, lineChoice }: FrontThreadSettings): Promise<void> {
  const say = (message: FromFront): void => port.postMessage(message)
  const registry = new Registry()
  // The same clock as in the main thread, because the allowance compares times of all threads.
  const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000
  // Limited here too, because messages are costly.
  const lines = openLines((name, values) => say({ is: 'line', name, values }), monotonicMs, lineChoice)
  // The main thread then drains and ends the whole service. This thread goes on until then.
  process.on('unhandledRejection', (error) => say({ is: 'broken', reason: reasonOf(error) }))
  const front = await openFront(settings, memory, {
    context: {
      now: () => msOf(Date.now()),
      monotonicMs,
      random: Math.random,
    },
    lines,
    registry,
  })
  const quiet = Promise.withResolvers<void>()
  port.on('message', (message: ToFront) => {
    switch (message.is) {
      case 'metrics':
        void metricsOf(registry).then((answer) => say({ is: 'metrics', id: message.id, answer }))
        break
      case 'readable':
        say({ is: 'readable', id: message.id, answer: isReadable(front.reader) })
        break
      case 'drain':
        void front.endStreams().then(() => say({ is: 'streamless' }))
        void front.drain(quiet.promise).then(() => say({ is: 'drained' }))
        break
      case 'quiet':
        quiet.resolve()
        break
      case 'close':
        void close()
        break
    }
  })
  say({ is: 'listening', port: front.port })

  async function close(): Promise<void> {
    await front[Symbol.asyncDispose]()
    lines.flush()
    port.close()
  }
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
