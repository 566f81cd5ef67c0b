import type { Bucket } from '../../protocol/resources.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'

const AT = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})\.\d{3}Z$/

/** A moment as a page shows it, in UTC to the second; the element holds it exactly, for the island that converts it. */
export function momentOf(at: string): Html {
  return html`<time datetime="${at}">${momentText(at)}</time>`
}

/** A moment that may not have come: then a word. */
export function momentOrNone(at: string | null, none = 'not yet'): Html {
  return at === null ? html`<span class="none">${none}</span>` : momentOf(at)
}

/** A day of UTC that begins at this moment: it stays one where a reader has chosen other times, and says so. */
export function dayOf(at: string): Html {
  return html`<time datetime="${at}" data-form="day">${at.slice(0, 10)}</time> (UTC)`
}

/** `2026-10-03 11:22:33 UTC`, the milliseconds left out. */
export function momentText(at: string): string {
  const match = AT.exec(at)
  if (match === null) throw new Error('a moment is written with three decimals in UTC')
  return `${match[1]} ${match[2]} UTC`
}

/** When, in prose, for something of a bucket: by the moment at which it begins. */
export function bucketOf(bucket: Bucket, at: string): Html {
  if (bucket === 'day') return html`on ${dayOf(at)}`
  if (bucket === 'week') return html`in the week that began on ${dayOf(at)}`
  return html`in the ${bucket} from ${momentOf(at)}`
}
