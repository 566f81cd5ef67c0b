import type { Bucket } from '../../protocol/range-resources.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'

const AT = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})\.\d{3}Z$/

/** Time element of a moment: text in UTC to the second, and the exact value for the script that converts it. */
export function momentOf(at: string): Html {
  return html`<time datetime="${at}">${momentText(at)}</time>`
}

/** Time element of a moment, or the words `none` for null. */
export function momentOrNone(at: string | null, none = 'not yet'): Html {
  return at === null ? html`<span class="none">${none}</span>` : momentOf(at)
}

/** Time element of the UTC day that begins at this moment. The reader's choice of time zone does not change it. */
export function dayOf(at: string): Html {
  return html`<time datetime="${at}" data-form="day">${at.slice(0, 10)}</time> (UTC)`
}

/** `2026-10-03 11:22:33 UTC`, without milliseconds. */
export function momentText(at: string): string {
  const match = AT.exec(at)
  if (match === null) throw new Error('a moment is written with three decimals in UTC')
  return `${match[1]} ${match[2]} UTC`
}

/** Phrase for a bucket by its first moment, such as "in the week that began on …". */
export function bucketOf(bucket: Bucket, at: string): Html {
  if (bucket === 'day') return html`on ${dayOf(at)}`
  if (bucket === 'month') return html`in the month that began on ${dayOf(at)}`
  if (bucket === 'week') return html`in the week that began on ${dayOf(at)}`
  return html`in the ${bucket} from ${momentOf(at)}`
}
