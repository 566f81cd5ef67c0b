import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import type { Site } from '../markup/site.ts'

/** Tells a reader of news, in the head of a page, where its feed is. */
export function feedLink({ name }: Site): Html {
  return html`<link
    rel="alternate"
    type="application/atom+xml"
    title="${name}: contests, corrections and rewards"
    href="/feed.atom"
  />`
}
