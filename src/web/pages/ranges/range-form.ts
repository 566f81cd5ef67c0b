import type { Ms } from '../../../protocol/moment.ts'
import { ceilTo, formatAt, MINUTE_MS, msOf } from '../../../protocol/moment.ts'
import type { AsOf } from '../../../protocol/resources.ts'
import type { Bucket, Range } from '../../../protocol/range-resources.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import type { View } from '../../frame/page.ts'

type ShownRange = Range & Readonly<{ asOf: AsOf }>

/** Form for another range. Its fields hold the range of the answer. */
export function rangeForm({ path, now }: View, range: ShownRange, buckets: readonly Bucket[]): Html {
  return html`<form class="ask" method="get" action="${path}" data-chrome>
    <label>From, UTC <input type="datetime-local" name="from" value="${fieldOf(range.from)}" /></label>
    <label>To, UTC <input type="datetime-local" name="to" value="${fieldOf(endOf(range, now))}" /></label>
    <label
      >By
      <select name="bucket">
        ${buckets.map((bucket) =>
          bucket === range.bucket
            ? html`<option selected>${bucket}</option>`
            : html`<option>${bucket}</option>`,
        )}
      </select></label
    >
    <button>Show</button>
    <a href="${path}">The default range</a>
  </form>`
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
