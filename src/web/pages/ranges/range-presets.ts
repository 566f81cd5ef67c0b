import type { CountableTimeInterval } from 'd3-time'
import { utcDay, utcHour, utcMonday } from 'd3-time'
import type { EventWire } from '../../../protocol/event.ts'
import { parseQueryTime } from '../../../protocol/moment.ts'
import type { AsOf, Bucket, Range } from '../../../protocol/resources.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

type Width = Exclude<Bucket, 'minute'>
type Preset = Readonly<{ label: string; bucket: Width; buckets: number }>

/** Ranges that a chart shows well: each bucket has two pixels even on a phone. */
const PRESETS: readonly Preset[] = [
  { label: '24 h', bucket: 'hour', buckets: 24 },
  { label: '7 d', bucket: 'hour', buckets: 7 * 24 },
  { label: '30 d', bucket: 'day', buckets: 30 },
  { label: '90 d', bucket: 'day', buckets: 90 },
  { label: '1 y', bucket: 'week', buckets: 52 },
]
const WHOLE_DAYS_MAX = 90
const DAY_MS = 86_400_000

const INTERVALS: Readonly<Record<Width, CountableTimeInterval>> = {
  hour: utcHour,
  day: utcDay,
  week: utcMonday,
}
const BUCKET_MS: Readonly<Record<Bucket, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
}

/** Links to ranges that end where the one shown ends, and to the whole of the log. */
export async function rangePresets(view: View, range: Range & Readonly<{ asOf: AsOf }>): Promise<Html> {
  const last = lastOf(view, range)
  const launch = await launchOf(view)
  const all = launch === null ? null : sinceLaunch(view, launch, last)
  const offered = PRESETS.map(({ label, bucket, buckets }) => {
    const to = endOf(bucket, last)
    const from = INTERVALS[bucket].offset(to, -buckets)
    // Before the launch there is nothing to see.
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

function sameRange(one: Linked, other: Linked): boolean {
  return one.bucket === other.bucket && one.from.getTime() === other.from.getTime()
}

/** Says of a range that begins before the log does that what it shows there is no figure. */
export async function beforeLaunch(view: View, { fromMs }: Range): Promise<Html | null> {
  const asked = await view.ask('event', { segments: { seq: '1' } })
  if (!asked.ok) return null
  const { at, atMs }: EventWire = JSON.parse(asked.value.json)
  // A bucket that the log begins in is of the log.
  if (atMs - fromMs < BUCKET_MS.week) return null
  return html`<p class="quiet" data-at="${asked.value.address}#/at">
    The log begins at ${momentOf(at)} (<a data-json href="${asked.value.address}">its first event</a>): zeros
    before that say only that there was none.
  </p>`
}

/**
 * A moment of the last bucket shown. Of a range that reaches into the present it is as late as the answer says that it
 * is: then no range that ends with its bucket ends in the future.
 */
function lastOf({ past }: View, { toMs, bucket, asOf }: Range & Readonly<{ asOf: AsOf }>): Date {
  return new Date(past ? toMs - 1 : Math.max(asOf.atMs ?? 0, toMs - BUCKET_MS[bucket]))
}

function endOf(bucket: Width, last: Date): Date {
  const interval = INTERVALS[bucket]
  return interval.offset(interval.floor(last), 1)
}

type Linked = Readonly<{ label: string; bucket: Width; from: Date; to: Date }>

function linkTo({ path }: View, range: Range, { label, bucket, from, to }: Linked): Html {
  const shown = range.bucket === bucket && range.fromMs === from.getTime() && range.toMs === to.getTime()
  const href = `${path}?from=${from.toISOString()}&to=${to.toISOString()}&bucket=${bucket}`
  return shown
    ? html`<li><a href="${href}" aria-current="true">${label}</a></li>`
    : html`<li><a href="${href}">${label}</a></li>`
}

/** The whole of the log; of a past view, what came before its end. */
function sinceLaunch({ past }: View, launch: Date, last: Date): Linked {
  const end = launch > last ? launch : last
  const days = (end.getTime() - launch.getTime()) / DAY_MS
  const bucket = days < WHOLE_DAYS_MAX ? 'day' : 'week'
  const label = past ? 'From launch' : 'All'
  return { label, bucket, from: INTERVALS[bucket].floor(launch), to: endOf(bucket, end) }
}

/** When the first event was published, which never changes; null before. */
async function launchOf(view: View): Promise<Date | null> {
  const asked = await view.ask('event', { segments: { seq: '1' } })
  if (!asked.ok) return null
  const { at }: { at: string } = JSON.parse(asked.value.json)
  const moment = parseQueryTime(at)
  return 'ms' in moment ? new Date(moment.ms) : null
}
