import { DAY_MS, formatAt, HOUR_MS, MINUTE_MS } from '../../../protocol/moment.ts'
import { BUCKETS_MAX } from '../../../protocol/parameters.ts'
import type { AsOf } from '../../../protocol/endpoints/resource-fields.ts'
import { type Bucket, BUCKETS } from '../../../protocol/enumerations.ts'
import type { Range } from '../../../protocol/endpoints/figure-endpoints.ts'
import { type Html, html } from '../../markup/html.ts'
import { rangeName } from './range-words.ts'
import type { View } from '../../frame/page.ts'
import { type CountableTimeInterval, utcDay, utcHour, utcMinute, utcMonday, utcMonth } from 'd3-time'
import { momentOf } from '../../markup/moment-html.ts'
import { monthLinks } from './month-links.ts'

type ShownRange = Range & Readonly<{ asOf: AsOf }>

/** Controls of a range in one row: presets, months, bucket width, and dates. */
export function rangeControls(view: View, range: ShownRange): Html {
  const { path, query } = view
  const { tabs, names, pager } = monthLinks(view, range, { bucket: 'day' })
  // Without chosen dates each bucket has a default range, so that none is too long.
  const isChosen = query.has('from') || query.has('to')
  const options = BUCKETS.map((bucket) =>
    bucket === range.bucket
      ? html`<option selected>${bucket}</option>`
      : isChosen && isTooShort(bucket, range)
        ? html`<option disabled>${bucket}</option>`
        : html`<option>${bucket}</option>`,
  )
  return html`<div class="controls" data-chrome>
      ${rangePresets(view, range)} ${tabs}
      <form method="get" action="${path}">
        <label
          >By
          <select name="bucket">
            ${options}
          </select></label
        >
        ${query.has('by') ? html`<input type="hidden" name="by" value="kind" />` : null}
        <button>Show</button>
        ${dateFold(
          rangeName({ ...range, launchedAtMs: null, buckets: [] }).words,
          names,
          html`${dateFields(query)}
            <a href="${path}${query.has('by') ? '?by=kind' : ''}">The default range</a>`,
        )}
      </form>
    </div>
    ${pager}`
}

/** Fold of the controls, with the months by name above the fields of dates. */
export function dateFold(summary: string, months: Html, fields: Html): Html {
  return html`<details>
    <summary>${summary}</summary>
    ${months}
    <div class="ask">${fields}</div>
  </details>`
}

/** Fields for the dates of a range, blank unless they are chosen. */
export function dateFields(query: View['query']): Html {
  const field = (name: 'from' | 'to', label: string): Html => {
    const ms = query.time(name)
    // A `datetime-local` field has a time to the minute.
    const value = ms === undefined ? '' : formatAt(ms).slice(0, 16)
    return html`<label>${label}, UTC <input type="datetime-local" name="${name}" value="${value}" /></label>`
  }
  return html`${field('from', 'From')} ${field('to', 'To')}`
}

/** Lengths of the buckets of which a range may have too many. */
const SHORT_BUCKETS: Readonly<Partial<Record<Bucket, number>>> = {
  minute: MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
}

/** Whether a range has more buckets of a length than the API answers. */
function isTooShort(bucket: Bucket, { fromMs, toMs }: Range): boolean {
  const ms = SHORT_BUCKETS[bucket]
  return ms !== undefined && (toMs - fromMs) / ms > BUCKETS_MAX
}

/** Query for the range of an answer with its buckets. */
export function rangeQuery(range: Pick<Range, 'fromMs' | 'toMs' | 'bucket'>): string {
  return `${spanQuery(range)}&bucket=${range.bucket}`
}

/** Query for the span of a range. The first week begins before 1970, but a time in a query cannot. */
export function spanQuery({ fromMs, toMs }: Pick<Range, 'fromMs' | 'toMs'>): string {
  const [from, to] = [new Date(Math.max(0, fromMs)), new Date(toMs)]
  return `from=${from.toISOString()}&to=${to.toISOString()}`
}

/** Rest of a query that divides the amounts by kind if the shown page does. */
export function kindQuery(query: View['query']): string {
  return query.has('by') ? '&by=kind' : ''
}

type Preset = Readonly<{ label: string; bucket: Bucket; buckets: number }>

/** Ranges that suit a chart. Each bucket has at least two pixels on a phone. */
const PRESETS: readonly Preset[] = [
  { label: '24 h', bucket: 'hour', buckets: 24 },
  { label: '7 d', bucket: 'hour', buckets: 7 * 24 },
  { label: '30 d', bucket: 'day', buckets: 30 },
  { label: '90 d', bucket: 'day', buckets: 90 },
]
/** Most days of the whole log to show by day, and by week. */
const WHOLE_DAYS_MAX = 90
const WHOLE_WEEKS_DAYS_MAX = 3 * 365
const INTERVALS: Readonly<Record<Bucket, CountableTimeInterval>> = {
  minute: utcMinute,
  hour: utcHour,
  day: utcDay,
  week: utcMonday,
  month: utcMonth,
}

type PresetRange = Range & Readonly<{ asOf: AsOf }>

/** Links to ranges with the same end as the shown one, and to the whole log. */
function rangePresets(view: View, range: PresetRange): Html {
  const last = lastOf(view, range)
  const launch = range.launchedAtMs === null ? null : new Date(range.launchedAtMs)
  const all = launch === null ? null : sinceLaunch(view, launch, last)
  const offered = PRESETS.map(({ label, bucket, buckets }) => {
    const to = endOfLast(bucket, last)
    const from = INTERVALS[bucket].offset(to, -buckets)
    // There is no data before the launch.
    const first = launch === null ? from : INTERVALS[bucket].floor(launch)
    return { label, bucket, from: first > from && first < to ? first : from, to }
  })
  const links = offered
    .filter((one, index) => offered.findIndex((other) => sameRange(one, other)) === index)
    .filter((one) => all === null || !sameRange(one, all))
    .map((one) => linkTo(view, range, one))
  return html`<nav aria-label="Ranges">
    <ul class="tabs">
      ${links} ${all === null ? null : linkTo(view, range, all)}
    </ul>
  </nav>`
}

function sameRange(one: RangeLink, other: RangeLink): boolean {
  return one.bucket === other.bucket && one.from.getTime() === other.from.getTime()
}

/** Note that zeros before the launch are not figures; null unless the first bucket ends before the launch. */
export function beforeLaunch({ fromMs, bucket, launchedAt, launchedAtMs }: Range): Html | null {
  if (launchedAt === null || launchedAtMs === null) return null
  if (launchedAtMs < INTERVALS[bucket].offset(new Date(fromMs), 1).getTime()) return null
  return html`<p class="quiet" data-at="/launchedAt">
    The log begins at ${momentOf(launchedAt)}, with <a data-chrome href="/events/1">its first event</a>.
    Amounts before that are zero because there was no log.
  </p>`
}

/** Moment in the last shown bucket, but not after now, because the API refuses a range that begins later buckets. */
function lastOf({ now }: View, { toMs, asOf }: PresetRange): Date {
  return new Date(Math.min(Math.max(now, asOf.atMs ?? 0), toMs - 1))
}

function endOfLast(bucket: Bucket, last: Date): Date {
  const interval = INTERVALS[bucket]
  return interval.offset(interval.floor(last), 1)
}

type RangeLink = Readonly<{ label: string; bucket: Bucket; from: Date; to: Date }>

function linkTo({ path, query }: View, range: Range, { label, bucket, from, to }: RangeLink): Html {
  const shown = range.bucket === bucket && range.fromMs === from.getTime() && range.toMs === to.getTime()
  const href = `${path}?${rangeQuery({ fromMs: from.getTime(), toMs: to.getTime(), bucket })}${kindQuery(query)}`
  return shown
    ? html`<li><a href="${href}" aria-current="true">${label}</a></li>`
    : html`<li><a href="${href}">${label}</a></li>`
}

/** Range from the launch to the end of the shown range. */
function sinceLaunch({ past }: View, launch: Date, last: Date): RangeLink {
  const end = launch > last ? launch : last
  const days = (end.getTime() - launch.getTime()) / DAY_MS
  const bucket = days < WHOLE_DAYS_MAX ? 'day' : days < WHOLE_WEEKS_DAYS_MAX ? 'week' : 'month'
  const label = past ? 'From launch' : 'All'
  return { label, bucket, from: INTERVALS[bucket].floor(launch), to: endOfLast(bucket, end) }
}
