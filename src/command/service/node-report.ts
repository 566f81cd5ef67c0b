import type { LogLines } from '../log-lines/log-lines.ts'
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'
import type { LogReader } from '../../log/store/reader.ts'
import {
  ALIVE,
  MAIN_THREAD,
  notInTime,
  notMade,
  type OperationsAnswer,
  type OperationsPath,
  type Readiness,
  readyToRead,
  THREAD_METRICS_MS_MAX,
} from '../../publish/api/operations.ts'
import { LATE } from '../../publish/thread-link.ts'
import { gauge, openStateMetrics } from '../../serve/metrics/metrics.ts'
import { VERSION } from '../terminal/version.ts'
import { type Front, isReadable } from './front.ts'
import { type FrontMemory, isStopping, isWrong } from './front-memory.ts'
import type { ThreadMetrics } from './front-thread.ts'
import type { FrontThreads } from './front-threads.ts'
import { watchStore } from './service-metrics.ts'

/** The main thread's own reader, and the other serving threads. */
export type Serving = Readonly<{ reader: LogReader; threads: FrontThreads }>

/** Parts of the node that the main thread reports about. */
type NodeParts = Readonly<{
  memory: FrontMemory
  registry: Registry
  lines: LogLines
  /** Null until all threads listen. */
  serving(): Serving | null
  /** Further checks of `/readyz` that readiness does not depend on. */
  otherChecks?(): Readonly<Record<string, boolean>>
}>

/** The main thread's part in `/livez`, `/readyz` and `/metrics`. */
type NodeAnswers = Readonly<{
  readiness(): Promise<Readiness>
  /** Answers for the private listener; never throws. `accepting` is the writer's own state. */
  answer(path: OperationsPath, accepting: boolean): Promise<OperationsAnswer>
}>

export function openNodeReport(parts: NodeParts): NodeAnswers {
  return {
    readiness: () => readinessOf(parts),
    async answer(path, accepting) {
      // The answer itself is the proof. A restart would repair nothing else that this node depends on.
      if (path === '/livez') return ALIVE
      return path === '/metrics' ? metricsOf(parts) : readyToRead(await readinessOf(parts), accepting)
    },
  }
}

/** Opens the metrics of this process, with those of its store and limits. */
export function openNodeRegistry({
  data,
  streamsMax,
}: Readonly<{ data: string; streamsMax: number }>): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  watchStore(registry, data)
  gauge(registry, 'daybook_stream_clients_max', 'Most streams that may be open', () => streamsMax)
  return registry
}

/**
 * Registers the metrics of the whole node that are read at each collection. `accepting` is null when the node never
 * accepts drafts, as a mirror. A check that always fails would look like a fault.
 */
export function watchNode(
  registry: Registry,
  { reader, limiterKeys }: Pick<Front, 'reader' | 'limiterKeys'>,
  { readiness }: Pick<NodeAnswers, 'readiness'>,
  accepting: (() => boolean) | null,
): void {
  openStateMetrics(registry, {
    version: VERSION,
    nodeVersion: process.versions.node,
    sqliteVersion: process.versions['sqlite'] ?? '',
    head: reader.head,
    limiterKeys,
    async checks() {
      const { store, serving } = await readiness()
      return { store, serving, ...(accepting === null ? {} : { accepting_publishes: accepting() }) }
    },
  })
}

async function readinessOf({ memory, serving, otherChecks }: NodeParts): Promise<Readiness> {
  const now = serving()
  if (now === null) return { store: false, serving: false, unanswered: [] }
  const others = await now.threads.readable()
  const unanswered = others.filter(({ answer }) => answer === LATE).map(({ name }) => name)
  const readable = isReadable(now.reader) && others.every(({ answer }) => answer !== false)
  return {
    store: readable && !isWrong(memory),
    serving: !isStopping(memory) && unanswered.length === 0,
    unanswered,
    ...(otherChecks === undefined ? {} : { otherChecks: otherChecks() }),
  }
}

/**
 * Metrics of the process, summed over its threads. If a thread is missing the whole answer fails, because a sum without
 * it would look like a restart.
 */
async function metricsOf({ registry, serving, lines }: NodeParts): Promise<OperationsAnswer> {
  const failed = (thread: string, err: unknown): OperationsAnswer => {
    lines.say('metrics-failed', { err, thread })
    return notMade(`the metrics of the ${thread}`)
  }
  const others = (await serving()?.threads.metrics()) ?? []
  const added: ThreadMetrics[] = []
  for (const { name, answer } of others) {
    if (answer === LATE) return notInTime(name, THREAD_METRICS_MS_MAX)
    if ('failed' in answer) return failed(name, answer.failed)
    added.push(answer.metrics)
  }
  try {
    const whole =
      added.length === 0
        ? registry
        : AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...added])
    return { status: 200, headers: { 'Content-Type': registry.contentType }, body: await whole.metrics() }
  } catch (error) {
    return failed(MAIN_THREAD, error)
  }
}
