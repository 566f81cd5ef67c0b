import type { MessagePort } from 'node:worker_threads'
import { parentPort, workerData } from 'node:worker_threads'
import { pino } from 'pino'
import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import { Registry } from 'prom-client'
import { assert } from '../protocol/brand.ts'
import { msOf } from '../protocol/moment.ts'
import type { FrontSettings } from './front.ts'
import { openFront } from './front.ts'
import type { FrontMemory } from './front-memory.ts'

/** What the thread is started with. */
export type FrontThreadSettings = Readonly<{ settings: FrontSettings; memory: FrontMemory }>

/** A thread's metrics, as they are handed over to be added up. */
export type ThreadMetrics = readonly MetricObjectWithValues<MetricValue<string>>[]

/** What the thread says: that it listens, and its metrics when they are asked for. */
export type FromFront =
  | Readonly<{ is: 'listening'; port: number }>
  | Readonly<{ is: 'metrics'; id: number; metrics: ThreadMetrics }>

/** What the main thread tells it. */
export type ToFront = Readonly<{ is: 'metrics'; id: number }> | Readonly<{ is: 'close' }>

/**
 * A further thread that serves on the same port (`--workers`): a reader, an allowance and stream slots that it
 * shares with the others. This is the composition root of the thread, so it may read the clock.
 */
async function run(port: MessagePort, { settings, memory }: FrontThreadSettings): Promise<void> {
  const say = (message: FromFront): void => port.postMessage(message)
  const registry = new Registry()
  const front = await openFront(settings, memory, {
    world: {
      now: () => msOf(Date.now()),
      // The clock of the main thread: the allowance compares readings of all of them.
      monotonicMs: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
      random: Math.random,
    },
    log: pino(
      { base: null, timestamp: pino.stdTimeFunctions.isoTime },
      pino.destination({ fd: 2, sync: true }),
    ),
    registry,
    // The main thread learns of it when this one ends.
    onBroken(reason) {
      throw new Error(reason)
    },
  })
  port.on('message', (message: ToFront) => {
    switch (message.is) {
      case 'metrics':
        void registry.getMetricsAsJSON().then((metrics) => say({ is: 'metrics', id: message.id, metrics }))
        break
      case 'close':
        void close()
        break
    }
  })
  say({ is: 'listening', port: front.port })

  async function close(): Promise<void> {
    await front[Symbol.asyncDispose]()
    port.close()
  }
}

assert(parentPort !== null, 'a front runs in a thread of its own')
const threadSettings: FrontThreadSettings = workerData
await run(parentPort, threadSettings)
