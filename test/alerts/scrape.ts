/** A family of metrics: what `# TYPE` says of it. */
type Family = 'counter' | 'gauge' | 'histogram' | 'summary'

/** A series of a scrape. */
export type ScrapedSeries = Readonly<{
  /** Name of the series, with `_bucket` and the like for a histogram. */
  name: string
  /** Name of the metric, which the documents use. */
  metric: string
  family: Family
  /** Labels as written, without braces. */
  labels: string
  value: number
}>

/** Metrics of a service at one moment. `series` is null when the service did not answer. */
export type Scrape = Readonly<{ atMs: number; series: readonly ScrapedSeries[] | null }>

const ANSWER_MS_MAX = 60_000

/** Reads the metrics of a service, as Prometheus does. */
export async function scrape(publishUrl: string): Promise<Scrape> {
  const atMs = Date.now()
  try {
    const response = await fetch(`${publishUrl}/metrics`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    const text = await response.text()
    return { atMs, series: response.ok ? parseMetrics(text) : null }
  } catch (error) {
    // `fetch` fails with a TypeError when nothing listens.
    if (error instanceof TypeError) return { atMs, series: null }
    throw error
  }
}

/** Series of an answer in Prometheus' text format. */
function parseMetrics(text: string): readonly ScrapedSeries[] {
  const families = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = '', family = '']) => [name, family]),
  )
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([line, name = '', labels = '', value]) => {
    const metric = families.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '')
    const family = families.get(metric)
    if (family === undefined) throw new Error(`no type of ${line}`)
    return { name, metric, family: family as Family, labels, value: Number(value) }
  })
}

/** Names of the labels of a series. */
export function labelNames({ labels }: ScrapedSeries): readonly string[] {
  return [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, name = '']) => name)
}
