import { Counter, Histogram, type Registry } from 'prom-client'

/** Counts the answers of one route, in a few additions because every request passes here. */
export type RequestTally = Readonly<{
  /** `seconds` from the request's head to the end of its answer; null for streams. */
  add(method: string, code: number, seconds: number | null): void
}>

/** The tally of a route by its template; always the same one for the same route. */
export type Tallies = (route: string) => RequestTally

/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

type Counts = {
  /** Number of answers by method and code. */
  readonly answers: Map<string, Map<number, number>>
  /** Number of answers in each bucket alone; the last bucket is above every bound. */
  readonly buckets: Float64Array
  seconds: number
}

/** Registers the metrics of requests; throws if the registry has them already. */
export function openTallies(registry: Registry): Tallies {
  const routes = new Map<string, Counts & { tally: RequestTally }>()
  registry.registerMetric(answersMetric(routes))
  registry.registerMetric(durationMetric(routes))
  return (route) => {
    const known = routes.get(route)
    if (known !== undefined) return known.tally
    const counts: Counts = { answers: new Map(), buckets: new Float64Array(BOUNDS.length + 1), seconds: 0 }
    const tally = tallyOf(counts)
    routes.set(route, Object.assign(counts, { tally }))
    return tally
  }
}

function tallyOf(counts: Counts): RequestTally {
  return {
    add(method, code, seconds) {
      const codes = counts.answers.get(method) ?? new Map<number, number>()
      counts.answers.set(method, codes)
      codes.set(code, (codes.get(code) ?? 0) + 1)
      if (seconds === null) return
      counts.seconds += seconds
      let bucket = 0
      while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] ?? 0)) bucket += 1
      counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1
    },
  }
}

function answersMetric(routes: ReadonlyMap<string, Counts>): Counter<'route' | 'method' | 'code'> {
  return new Counter({
    name: 'daybook_http_requests_total',
    help: 'Requests answered',
    labelNames: ['route', 'method', 'code'],
    registers: [],
    collect() {
      this.reset()
      for (const [route, { answers }] of routes) {
        for (const [method, codes] of answers) {
          for (const [code, count] of codes) this.inc({ route, method, code }, count)
        }
      }
    },
  })
}

/**
 * Histogram of durations. The library can only observe values one by one, so its readings are taken from the counts.
 */
function durationMetric(routes: ReadonlyMap<string, Counts>): Histogram<'route'> {
  const name = 'daybook_http_request_duration_seconds'
  const settings = {
    name,
    help: 'From the request’s head to the end of its answer, streams left out',
    labelNames: ['route'] as const,
    buckets: BOUNDS,
    registers: [],
  }
  const empty = new Histogram(settings)
  const get = async (): ReturnType<typeof empty.get> => {
    const timed = [...routes].filter(([, { buckets }]) => buckets.some((count) => count > 0))
    return {
      ...(await empty.get()),
      values: timed.flatMap(([route, counts]) => valuesOf(name, route, counts)),
    }
  }
  return Object.assign(new Histogram(settings), { get, getForPromString: get })
}

type Value = Awaited<ReturnType<Histogram<'route'>['get']>>['values'][number]

function valuesOf(name: string, route: string, { buckets, seconds }: Counts): readonly Value[] {
  let count = 0
  const below = [...buckets].map((one, index): Value => {
    count += one
    const labels = { le: BOUNDS[index] ?? '+Inf', route }
    return { metricName: `${name}_bucket`, labels, value: count }
  })
  return [
    ...below,
    { metricName: `${name}_sum`, labels: { route }, value: seconds },
    { metricName: `${name}_count`, labels: { route }, value: count },
  ]
}
