import { Counter, Gauge, type Registry } from 'prom-client'
import { openTallies, type Tallies } from './request-tally.ts'

/** Metrics of the public listener. No label holds an address, a seq or a URL: `route` is the template. */
export type Metrics = Readonly<{
  tallies: Tallies
  connections: Gauge
  connectionsDropped: Counter
  clientErrors: Counter<'reason'>
  rateLimited: Counter<'scope'>
  /** Answers 503 `behind`. They are among the requests answered. */
  behind: Counter
}>

/** Registers the metrics of the public listener; throws if the registry has them already. */
export function openMetrics(registry: Registry): Metrics {
  const registers = [registry]
  return {
    tallies: openTallies(registry),
    connections: new Gauge({
      name: 'daybook_http_connections',
      help: 'Connections open',
      registers,
    }),
    connectionsDropped: new Counter({
      name: 'daybook_http_connections_dropped_total',
      help: 'Connections closed at once over the limit of open connections',
      registers,
    }),
    clientErrors: new Counter({
      name: 'daybook_http_client_errors_total',
      help: 'Connections that sent no well-formed request',
      labelNames: ['reason'],
      registers,
    }),
    rateLimited: new Counter({
      name: 'daybook_rate_limited_total',
      help: 'Requests over the allowance of their caller',
      labelNames: ['scope'],
      registers,
    }),
    behind: new Counter({
      name: 'daybook_http_behind_total',
      help: 'Requests answered 503 behind: this node did not reach their event in time',
      registers,
    }),
  }
}

/** State of a node that is read when its metrics are collected. */
export type NodeState = Readonly<{
  version: string
  nodeVersion: string
  sqliteVersion: string
  head(): Readonly<{ seq: number; atMs: number | null }>
  limiterKeys(): number
  /** Named checks of readiness and whether each holds. */
  checks(): Promise<Readonly<Record<string, boolean>>>
}>

/** Registers the gauges that are read at each collection. */
export function openStateMetrics(registry: Registry, state: NodeState): void {
  const registers = [registry]
  new Gauge({
    name: 'daybook_build_info',
    help: 'Always 1; what runs is in the labels',
    labelNames: ['version', 'node', 'sqlite'],
    registers,
  }).set({ version: state.version, node: state.nodeVersion, sqlite: state.sqliteVersion }, 1)
  gauge(registry, 'daybook_log_head_seq', 'Seq of the newest event', () => state.head().seq)
  gauge(registry, 'daybook_log_head_timestamp_seconds', 'Moment of the newest event', () => {
    return (state.head().atMs ?? 0) / 1000
  })
  gauge(registry, 'daybook_rate_limiter_keys', 'Callers whose requests are remembered', state.limiterKeys)
  const ready = new Gauge({
    name: 'daybook_ready',
    help: 'Checks of readiness: 1 holds, 0 does not',
    labelNames: ['check'],
    registers: [],
    async collect() {
      for (const [check, holds] of Object.entries(await state.checks())) this.set({ check }, holds ? 1 : 0)
    },
  })
  registry.registerMetric(ready)
}

/** Registers a gauge that is read at each collection. */
export function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  const made = new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(read())
    },
  })
  registry.registerMetric(made)
}

/** Registers a counter that somebody else counts. Its value is copied at each collection. */
export function copiedCounter(registry: Registry, name: string, help: string, read: () => number): void {
  const made = new Counter({
    name,
    help,
    registers: [],
    collect() {
      this.reset()
      this.inc(read())
    },
  })
  registry.registerMetric(made)
}
