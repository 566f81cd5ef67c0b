import type { CountableTimeInterval } from 'd3-time'
import { utcDay, utcHour, utcMonday } from 'd3-time'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../protocol/moment.ts'
import type { AsOf } from '../../../protocol/resources.ts'
import type { Bucket, Range } from '../../../protocol/range-resources.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf } from '../../markup/moment-html.ts'
import { firstEvent } from '../../frame/linked-answers.ts'
import type { View } from '../../frame/page.ts'

type Width = Exclude<Bucket, 'minute'>
type Preset = Readonly<{ label: string; bucket: Width; buckets: number }>

/** Ranges that a chart shows well. Each bucket has at least two pixels on a phone. */
const PRESETS: readonly Preset[] = [
  { label: '24 h', bucket: 'hour', buckets: 24 },
  { label: '7 d', bucket: 'hour', buckets: 7 * 24 },
  { label: '30 d', bucket: 'day', buckets: 30 },
  { label: '90 d', bucket: 'day', buckets: 90 },
  { label: '1 y', bucket: 'week', buckets: 52 },
]
const WHOLE_DAYS_MAX = 90
const INTERVALS: Readonly<Record<Width, CountableTimeInterval>> = {
  hour: utcHour,
  day: utcDay,
  week: utcMonday,
}
const BUCKET_MS: Readonly<Record<Bucket, number>> = {
  minute: MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
}

/** Links to ranges with the same end as the shown one, and to the whole log. */
export async function rangePresets(view: View, range: Range & Readonly<{ asOf: AsOf }>): Promise<Html> {
  const last = lastOf(view, range)
  const launch = await launchOf(view)
  const all = launch === null ? null : sinceLaunch(view, launch, last)
  const offered = PRESETS.map(({ label, bucket, buckets }) => {
    const to = endOf(bucket, last)
    const from = INTERVALS[bucket].offset(to, -buckets)
    // There is no data before the launch.
    const first = launch === null ? from : INTERVALS[bucket].floor(launch)
    return { label, bucket, from: first > from && first < to ? first : from, to }
  })
  const links = offered
    .filter((one, index) => offered.findIndex((other) => sameRange(one, other)) === index)
    .filter((one) => all === null || !sameRange(one, all))
    .map((one) => linkTo(view, range, one))
  return html`<nav aria-label="Ranges" data-chrome>
    <ul class="tabs">
      ${links} ${all === null ? null : linkTo(view, range, all)}
    </ul>
  </nav>`
}

function sameRange(one: RangeLink, other: RangeLink): boolean {
  return one.bucket === other.bucket && one.from.getTime() === other.from.getTime()
}

/** Note that zeros before the launch are not figures; null unless the range begins a week earlier. */
export async function beforeLaunch(view: View, { fromMs }: Range): Promise<Html | null> {
  const first = await firstEvent(view)
  if (first === null) return null
  const { address } = first
  const { at, atMs } = first.answer
  // The launch may be within the range's first bucket, which is at most a week.
  if (atMs - fromMs < BUCKET_MS.week) return null
  return html`<p class="quiet" data-at="${address}#/at">
    The log begins at ${momentOf(at)} (<a data-json href="${address}">its first event</a>): zeros before that
    say only that there was none.
  </p>`
}

/** A moment in the last shown bucket. For the present it is the newest event's, so that no link ends later. */
function lastOf({ past }: View, { toMs, bucket, asOf }: Range & Readonly<{ asOf: AsOf }>): Date {
  return new Date(past ? toMs - 1 : Math.max(asOf.atMs ?? 0, toMs - BUCKET_MS[bucket]))
}

function endOf(bucket: Width, last: Date): Date {
  const interval = INTERVALS[bucket]
  return interval.offset(interval.floor(last), 1)
}

type RangeLink = Readonly<{ label: string; bucket: Width; from: Date; to: Date }>

function linkTo({ path }: View, range: Range, { label, bucket, from, to }: RangeLink): Html {
  const shown = range.bucket === bucket && range.fromMs === from.getTime() && range.toMs === to.getTime()
  const href = `${path}?from=${from.toISOString()}&to=${to.toISOString()}&bucket=${bucket}`
  return shown
    ? html`<li><a href="${href}" aria-current="true">${label}</a></li>`
    : html`<li><a href="${href}">${label}</a></li>`
}

/** Range from the launch to the end of the shown range. */
function sinceLaunch({ past }: View, launch: Date, last: Date): RangeLink {
  const end = launch > last ? launch : last
  const days = (end.getTime() - launch.getTime()) / DAY_MS
  const bucket = days < WHOLE_DAYS_MAX ? 'day' : 'week'
  const label = past ? 'From launch' : 'All'
  return { label, bucket, from: INTERVALS[bucket].floor(launch), to: endOf(bucket, end) }
}

/** Moment of the first event; null if there is none. */
async function launchOf(view: View): Promise<Date | null> {
  const first = await firstEvent(view)
  return first === null ? null : new Date(first.answer.atMs)
}
