import type { Ms } from '../../../protocol/moment.ts'
import { ceilTo, formatAt, MINUTE_MS, msOf } from '../../../protocol/moment.ts'
import type { AsOf, Bucket, Range } from '../../../protocol/resources.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import type { View } from '../../frame/page.ts'

type Shown = Range & Readonly<{ asOf: AsOf }>

/** The form that asks for another range; it works without a script. The fields hold the range that the answer used. */
export function rangeForm({ path, now }: View, range: Shown, buckets: readonly Bucket[]): Html {
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
 * The end of the range; of one that reaches into the present, the end of the present minute. That of a present day lies
 * in the future of its hours: a form that held it could not be sent with another bucket.
 */
function endOf({ to, toMs, asOf }: Shown, now: Ms): string {
  const present = ceilTo(msOf(Math.max(now, asOf.atMs ?? 0) + 1), MINUTE_MS)
  return present < toMs ? formatAt(present) : to
}

/** A moment as a field of date and time holds it, to the minute. */
function fieldOf(at: string): string {
  return at.slice(0, 16)
}
