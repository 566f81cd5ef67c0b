import { ceilTo, DAY_MS, formatAt, HOUR_MS, MINUTE_MS, type Ms, msOf } from '../../../protocol/moment.ts'
import { BUCKETS_MAX } from '../../../protocol/parameters.ts'
import type { AsOf } from '../../../protocol/endpoints/resource-fields.ts'
import type { Range } from '../../../protocol/endpoints/figure-endpoints.ts'
import { type Bucket, BUCKETS } from '../../../protocol/enumerations.ts'
import { type Html, html } from '../../markup/html.ts'
import { rangeName } from './range-words.ts'
import type { View } from '../../frame/page.ts'
import { rangePresets } from './range-presets.ts'

type ShownRange = Range & Readonly<{ asOf: AsOf }>

/** Controls of a range in one row: presets, width of a bucket, and the dates. */
export function rangeControls(view: View, range: ShownRange): Html {
  const { path, now, query } = view
  // Without chosen dates each bucket has a default range, so that none is too long.
  const isChosen = query.has('from') || query.has('to')
  return html`<div class="controls" data-chrome>
    ${rangePresets(view, range)}
    <form method="get" action="${path}">
      ${bucketChoice(range, isChosen)} ${isChosen ? hiddenDates(range, now) : null}
      <button>Show</button>
    </form>
    <form method="get" action="${path}">
      <details>
        <summary>${rangeName({ ...range, launchedAtMs: null, buckets: [] }).words}</summary>
        <div class="ask">
          ${bucketChoice(range, false)}
          <label>From, UTC <input type="datetime-local" name="from" value="${fieldOf(range.from)}" /></label>
          <label
            >To, UTC <input type="datetime-local" name="to" value="${fieldOf(endOf(range, now))}"
          /></label>
          <button>Show these dates</button>
          <a href="${path}">The default range</a>
        </div>
      </details>
    </form>
  </div>`
}

/** Choice of a bucket. With `isFixed`, those of which the range holds too many cannot be chosen. */
function bucketChoice(range: ShownRange, isFixed: boolean): Html {
  const options = BUCKETS.map((bucket) =>
    bucket === range.bucket
      ? html`<option selected>${bucket}</option>`
      : isFixed && isTooShort(bucket, range)
        ? html`<option disabled>${bucket}</option>`
        : html`<option>${bucket}</option>`,
  )
  return html`<label
    >By
    <select name="bucket">
      ${options}
    </select></label
  >`
}

/** Lengths of the buckets of which a range may hold too many. */
const SHORT_BUCKETS: Readonly<Partial<Record<Bucket, number>>> = {
  minute: MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
}

/** Whether a range holds more buckets of a length than the API answers. */
function isTooShort(bucket: Bucket, { fromMs, toMs }: Range): boolean {
  const ms = SHORT_BUCKETS[bucket]
  return ms !== undefined && (toMs - fromMs) / ms > BUCKETS_MAX
}

/** Chosen dates, which stay when the bucket changes. */
function hiddenDates(range: ShownRange, now: Ms): Html {
  return html`<input type="hidden" name="from" value="${fieldOf(range.from)}" /><input
      type="hidden"
      name="to"
      value="${fieldOf(endOf(range, now))}"
    />`
}

/**
 * End of the range, but at most the end of the present minute. The end of the present day is in the future, so the API
 * would refuse it with a smaller bucket.
 */
function endOf({ to, toMs, asOf }: ShownRange, now: Ms): string {
  const present = ceilTo(msOf(Math.max(now, asOf.atMs ?? 0) + 1), MINUTE_MS)
  return present < toMs ? formatAt(present) : to
}

/** Value of a `datetime-local` field, to the minute. */
function fieldOf(at: string): string {
  return at.slice(0, 16)
}
