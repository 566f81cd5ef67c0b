import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Metrics of the public listener. No label has an address, a seq or a URL; `route` is the template. */
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

/** State of a node, read when its metrics are collected. */
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
export function gauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Promise<number>,
): void {
  const made = new Gauge({
    name,
    help,
    registers: [],
    async collect() {
      this.set(await read())
    },
  })
  registry.registerMetric(made)
}

/** Registers a counter that other code counts. Each collection copies its value, or its value by reason. */
export function copiedCounter(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Readonly<Record<string, number>>,
): void {
  const made = new Counter({
    name,
    help,
    labelNames: ['reason'],
    registers: [],
    collect() {
      this.reset()
      const value = read()
      if (typeof value === 'number') this.inc(value)
      else for (const [reason, count] of Object.entries(value)) this.inc({ reason }, count)
    },
  })
  registry.registerMetric(made)
}

/** Counts the answers of one route. */
export type RequestTally = Readonly<{
  /** Counts an answer. `seconds` is the time from the request's head to the end of the answer; null for streams. */
  add(method: string, code: number, seconds: number | null): void
}>

/** Tally of a route by its template. The same route always has the same tally. */
type Tallies = (route: string) => RequestTally

/** Registers the metrics of requests; throws if the registry has them already. */
export function openTallies(registry: Registry): Tallies {
  const registers = [registry]
  const answers = new Counter({
    name: 'daybook_http_requests_total',
    help: 'Requests answered',
    labelNames: ['route', 'method', 'code'],
    registers,
  })
  const durations = new Histogram({
    name: 'daybook_http_request_duration_seconds',
    help: 'From the request’s head to the end of its answer, streams left out',
    labelNames: ['route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const tallies = new Map<string, RequestTally>()
  return (route) => {
    const known = tallies.get(route)
    if (known !== undefined) return known
    // Bound to its labels, a metric costs half as much.
    const duration = durations.labels(route)
    const counters = new Map<string, Counter.Internal>()
    const tally: RequestTally = {
      add(method, code, seconds) {
        const key = `${method} ${code}`
        const counter = counters.get(key) ?? answers.labels(route, method, String(code))
        counters.set(key, counter)
        counter.inc()
        if (seconds !== null) duration.observe(seconds)
      },
    }
    tallies.set(route, tally)
    return tally
  }
}
