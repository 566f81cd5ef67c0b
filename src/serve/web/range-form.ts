import type { Bucket, Range } from '../../protocol/resources.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { View } from './page.ts'

/** The form that asks for another range; it works without a script. The fields hold the range that the answer used. */
export function rangeForm({ path }: View, range: Range, buckets: readonly Bucket[]): Html {
  return html`<form class="ask" method="get" action="${path}" data-chrome>
    <label>From, UTC <input type="datetime-local" name="from" value="${fieldOf(range.from)}" /></label>
    <label>To, UTC <input type="datetime-local" name="to" value="${fieldOf(range.to)}" /></label>
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

/** A moment as a field of date and time holds it, to the minute. */
function fieldOf(at: string): string {
  return at.slice(0, 16)
}
