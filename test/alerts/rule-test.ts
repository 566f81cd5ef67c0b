import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'
import type { Scrape, ScrapedSeries } from './scrape.ts'

const run = promisify(execFile)

const RULES: string = join(ROOT, 'ops', 'prometheus', 'alerts.yml')
const RULES_TEXT = textOf('ops/prometheus/alerts.yml')

/** An alert, scrapes without its cause and with it. */
export type Cause = Readonly<{
  alert: string
  /** Words for the name of the test: the cause. */
  by: string
  healthy: Scrape
  /** Scrapes while the cause lasts, in order. The last one goes on until the end. */
  ailing: readonly Scrape[]
  severity?: 'page' | 'ticket'
  /** Hours for which the cause lasts; 2 by default. */
  hours?: number
  /** Whether the alert must stay silent: this is no cause of it. */
  isNone?: true
}>

/** Minutes before the first scrape, with the healthy scrape, and of each ailing scrape but the last. */
const BEFORE = 5
/** Minutes between two evaluations of the rules, because few are cheap. */
const EVERY = 10
const HEALTHY = 70
const EACH = 5
const LABELS = 'job="daybook",instance="127.0.0.1:8081"'

/** Input of one unit test of promtool: `values` in its notation, a value a minute. */
type InputSeries = Readonly<{ series: string; values: string }>
type ExpressionTest = Readonly<{
  expr: string
  eval_time: string
  exp_samples: readonly Readonly<{ labels: string; value: number }>[]
}>
type RuleTest = Readonly<{
  interval: '1m'
  input_series: readonly InputSeries[]
  promql_expr_test: readonly ExpressionTest[]
}>

/** Words of the rules of an alert, and of the recording rules. The names of its series are among them. */
function ruleOf(alert: string): ReadonlySet<string> {
  const parts = RULES_TEXT.split(/^ *- (?=alert: |record: )/m)
  const own = parts.filter((rule) => rule.startsWith(`alert: ${alert}\n`) || rule.startsWith('record: '))
  return new Set(own.join('').match(/\w+/g))
}

/** Unit test of a cause: the alert does not fire at the end of the healthy time, and fires at the end. */
export function testOf(cause: Cause): RuleTest {
  const { alert, severity } = cause
  const level = severity === undefined ? '' : `,severity="${severity}"`
  const firing = `ALERTS{alertname="${alert}",alertstate="firing"${level}}`
  return {
    interval: '1m',
    input_series: inputSeries(cause, (name) => ruleOf(alert).has(name)),
    promql_expr_test: [
      shows(firing, lastEvaluation(BEFORE + HEALTHY), alert === 'Watchdog'),
      shows(firing, endOf(cause), cause.isNone !== true),
    ],
  }
}

/** Days for which a healthy node is watched: longer than any alert waits. */
const CALM_MINUTES = 3 * 24 * 60

/** Unit test of a healthy node, whose values stay as they are for days: no alert fires but the one that always does. */
export function calmTest({ atMs, series }: Scrape): RuleTest {
  const input = (series ?? []).map((one) => {
    const value = isMoment(one) ? one.value - atMs / 1000 : one.value
    return {
      series: `${one.name}{${one.labels === '' ? LABELS : `${LABELS},${one.labels}`}}`,
      values: part(value, isAge(one) ? 60 : 0, CALM_MINUTES),
    }
  })
  return {
    interval: '1m',
    input_series: [{ series: `up{${LABELS}}`, values: part(1, 0, CALM_MINUTES) }, ...input],
    promql_expr_test: [
      {
        expr: `count by (alertname) (count_over_time(ALERTS{alertstate="firing",alertname!="Watchdog"}[${CALM_MINUTES}m]))`,
        eval_time: `${lastEvaluation(CALM_MINUTES)}m`,
        exp_samples: [],
      },
    ],
  }
}

/** Expects that an expression has a value at a minute, or that it has none. */
export function shows(expr: string, minute: number, isShown: boolean): ExpressionTest {
  return {
    expr: `(count(${expr}) or vector(0)) > bool 0`,
    eval_time: `${minute}m`,
    exp_samples: [{ labels: '{}', value: isShown ? 1 : 0 }],
  }
}

/** Last evaluation before a minute. A result can be read for less than five minutes after it. */
function lastEvaluation(minute: number): number {
  return Math.ceil(minute / EVERY - 1) * EVERY
}

/** Last evaluation of a cause. */
export function endOf({ hours = 2, ailing }: Pick<Cause, 'hours' | 'ailing'>): number {
  return lastEvaluation(BEFORE + HEALTHY + EACH * (ailing.length - 1) + hours * 60)
}

/**
 * Series as Prometheus would have them. The healthy scrape stays as it is, with moments as long ago as they are. Then the
 * ailing ones come, and the last one lasts: its gauges stay, its counters go on growing as they did since the healthy scrape. `time()` of a unit test
 * begins at 0, so moments are shifted: their age at each scrape is the real one.
 */
export function inputSeries(
  { healthy, ailing, hours = 2 }: Pick<Cause, 'healthy' | 'ailing' | 'hours'>,
  isWanted: (name: string) => boolean,
): readonly InputSeries[] {
  const scrapes = [healthy, ...ailing]
  const lasts = scrapes.map((_, index) => {
    if (index === 0) return HEALTHY
    return index < ailing.length ? EACH : hours * 60
  })
  const minuteOf = (index: number): number =>
    BEFORE + lasts.slice(0, index).reduce((sum, one) => sum + one, 0)
  const known = new Map(
    scrapes.flatMap(({ series }) => series ?? []).map((one) => [`${one.name}{${one.labels}}`, one]),
  )
  const valueOf = (key: string, index: number): number | null => {
    const found = scrapes[index]?.series?.find((one) => `${one.name}{${one.labels}}` === key)
    if (found === undefined) return null
    return isMoment(found)
      ? found.value - (scrapes[index]?.atMs ?? 0) / 1000 + minuteOf(index) * 60
      : found.value
  }
  const input = [...known].flatMap(([key, one]) => {
    if (!isWanted(one.name)) return []
    const parts = scrapes.map((_, index) => {
      const value = valueOf(key, index)
      const isLast = index === scrapes.length - 1
      const step = isLast ? pace(one, value, valueOf(key, 0)) : index === 0 && isAge(one) ? 60 : 0
      return part(value, step, lasts[index] ?? 0)
    })
    const labels = one.labels === '' ? LABELS : `${LABELS},${one.labels}`
    return [{ series: `${one.name}{${labels}}`, values: [`_x${BEFORE}`, ...parts].join(' ') }]
  })
  const up = scrapes.map(({ series }, index) => part(series === null ? 0 : 1, 0, lasts[index] ?? 0))
  return [{ series: `up{${LABELS}}`, values: [`_x${BEFORE}`, ...up].join(' ') }, ...input]
}

function isMoment({ name }: ScrapedSeries): boolean {
  return name.endsWith('_timestamp_seconds') || name === START
}

/** Whether a moment stays as old as it is while the service is healthy: all but that of its start. */
function isAge(series: ScrapedSeries): boolean {
  return isMoment(series) && series.name !== START
}

const START = 'process_start_time_seconds'

/** Growth of a series in a minute. Free disk space falls on like a counter grows. */
function pace({ family, name }: ScrapedSeries, last: number | null, first: number | null): number {
  if (last === null) return 0
  if (family === 'gauge') return name === 'daybook_disk_free_bytes' && first !== null ? last - first : 0
  return Math.max(0, last - (first ?? 0))
}

/** Values of so many minutes. A series that a scrape lacks is stale at once, as in Prometheus. */
function part(value: number | null, step: number, minutes: number): string {
  if (value === null) return `stale _x${minutes - 1}`
  const sign = step < 0 ? '-' : '+'
  return `${text(value)}${sign}${text(Math.abs(step))}x${minutes - 1}`
}

/** A number without exponent, which the notation of promtool does not take everywhere. */
function text(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(6)
}

/** Runs unit tests of the rules. Returns what promtool says, with its exit code. */
export async function runRuleTests(
  tests: readonly RuleTest[],
): Promise<Readonly<{ ok: boolean; said: string }>> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-rules-'))
  try {
    const file = join(folder, 'test.yml')
    // JSON is YAML too.
    const settings = {
      rule_files: [RULES],
      evaluation_interval: `${EVERY}m`,
      // Alerts read what the first group records. Without an order, promtool takes any.
      group_eval_order: [...RULES_TEXT.matchAll(/^ {2}- name: (\S+)$/gm)].map(([, name]) => name),
    }
    await writeFile(file, JSON.stringify({ ...settings, tests }))
    return await promtool('test', 'rules', file)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Runs promtool. */
export async function promtool(
  ...words: readonly string[]
): Promise<Readonly<{ ok: boolean; said: string }>> {
  try {
    const { stdout, stderr } = await run('promtool', words, { maxBuffer: 16 * 1024 * 1024 })
    return { ok: true, said: stdout + stderr }
  } catch (error) {
    if (!(error instanceof Error && 'stdout' in error && 'stderr' in error)) throw error
    return { ok: false, said: `${String(error.stdout)}${String(error.stderr)}` }
  }
}
