import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import { eventLink } from '../markup/amount-html.ts'
import { type Html, html } from '../markup/html.ts'
import { clockMoment } from '../markup/moment-html.ts'
import type { AnyPage, View } from './page.ts'
import { takeJsonLinks } from './linked-answers.ts'
import { asOfIn } from './page-formats.ts'

/**
 * Line with the state of a page, and the switch that shows all decimals. The frame adds it at the end of a page without
 * one.
 */
export function asOfLine({ seq, at }: AsOf, view: Pick<View, 'now' | 'past'>): Html {
  const state =
    at === null
      ? html`<span>${view.past ? 'Before the first event.' : 'No event has been published yet.'}</span>`
      : html`<span data-at="/asOf/seq /asOf/at"
          >As of event ${eventLink(seq)}, ${clockMoment(at, view)}.</span
        >`
  return html`<p class="as-of">${state} ${DECIMALS}</p>`
}

/** Whether a page has the line. */
function hasAsOf({ markup }: Html): boolean {
  return markup.includes('<p class="as-of"')
}

/** Whether markup has a shortened amount, which the switch would expand. */
function hasShortAmount({ markup }: Html): boolean {
  return markup.includes('<i>')
}

/** Markup without the switch. */
function withoutSwitch({ markup }: Html): Html {
  return { markup: markup.replace(DECIMALS.markup, '') }
}

const DECIMALS = html`<label class="decimals"
  >Amounts are cut, never rounded. <input type="checkbox" id="decimals" data-decimals /> Show all
  decimals</label
>`

/**
 * Parts of a page's own content: heading, body, line with the state (null if the body has it), and links for the
 * drawer.
 */
type PageParts = Readonly<{ heading: Html | null; content: Html; state: Html | null; links: Html | null }>

/** Renders the parts of a page. Without a shortened amount, no part has the switch that shows all decimals. */
export async function renderParts(page: AnyPage, view: View, answer: unknown): Promise<PageParts> {
  const heading = (await page.heading?.(answer, view)) ?? null
  const { content, links } = takeJsonLinks(await page.render(answer, view))
  const whole = html`${heading} ${content}`
  const asOf = asOfIn(answer)
  const state = asOf === null || hasAsOf(whole) ? null : asOfLine(asOf, view)
  if (hasShortAmount(whole)) return { heading, content, state, links }
  const plain = (part: Html | null): Html | null => (part === null ? null : withoutSwitch(part))
  return { heading: plain(heading), content: withoutSwitch(content), state: plain(state), links }
}
