import type { Ms } from '../../../protocol/moment.ts'
import { ceilTo, DAY_MS, formatAt, MINUTE_MS, msOf } from '../../../protocol/moment.ts'
import type { AsOf } from '../../../protocol/resources.ts'
import type { Range } from '../../../protocol/range-resources.ts'
import { BUCKETS } from '../../../protocol/range-resources.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { numberWords } from '../../markup/prose.ts'
import { timeWords } from '../../markup/time-words.ts'
import type { View } from '../../frame/page.ts'
import { rangePresets } from './range-presets.ts'

type ShownRange = Range & Readonly<{ asOf: AsOf }>

/** Controls of a range in one row: presets, width of a bucket, and the dates. */
export function rangeControls(view: View, range: ShownRange): Html {
  const { path, now } = view
  return html`<div class="controls" data-chrome>
    ${rangePresets(view, range)}
    <form method="get" action="${path}">
      <label
        >By
        <select name="bucket">
          ${BUCKETS.map((bucket) =>
            bucket === range.bucket
              ? html`<option selected>${bucket}</option>`
              : html`<option>${bucket}</option>`,
          )}
        </select></label
      >
      <button>Show</button>
      <details>
        <summary>${datesOf(range)}</summary>
        <div class="ask">
          <label>From, UTC <input type="datetime-local" name="from" value="${fieldOf(range.from)}" /></label>
          <label
            >To, UTC <input type="datetime-local" name="to" value="${fieldOf(endOf(range, now))}"
          /></label>
          <a href="${path}">The default range</a>
        </div>
      </details>
    </form>
  </div>`
}

/** First and last day of a range, or its first and last moment in short steps: `25 Aug to 22 Nov 2026`. */
function datesOf({ fromMs, toMs, bucket, to }: Range): string {
  const isShort = bucket === 'hour' || bucket === 'minute'
  const end = isShort ? toMs : toMs - 1
  const wordsOf = (ms: number): string =>
    `${timeWords('date', ms, 0)}${isShort ? ` ${formatAt(msOf(ms)).slice(11, 16)}` : ''}`
  const [first, last] = [wordsOf(fromMs), wordsOf(end)]
  if (first === last) return first
  return `${isShort ? first : first.replace(` ${to.slice(0, 4)}`, '')} to ${last}`
}

/** Length of a range in words, such as `ninety days`; null if it is no round one. */
export function lengthWords({ fromMs, toMs, bucket }: Range, buckets: number): string | null {
  const days = (toMs - fromMs) / DAY_MS
  const isShort = bucket === 'hour' || bucket === 'minute'
  const [count, unit] = isShort && days > 1 ? [days, 'day'] : [buckets, bucket]
  const words = numberWords(count)
  return words === null ? null : count === 1 ? `one ${unit}` : `${words} ${unit}s`
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
