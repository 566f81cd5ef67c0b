import { type Html, html } from '../markup/html.ts'
import { takeJsonLinks } from './linked-answers.ts'
import type { AnyPage, View } from './page.ts'
import { asOfIn } from './page-formats.ts'
import { asOfLine, hasAsOf, hasShortAmount, withoutSwitch } from './state-line.ts'

/** Parts of a page's own content: heading, body, the line with the state unless the page has it, links for the drawer. */
type PageParts = Readonly<{ heading: Html | null; content: Html; state: Html | null; links: Html | null }>

/** Renders the parts of a page. Without a shortened amount, none has the switch that shows all decimals. */
export async function renderParts(page: AnyPage, view: View, answer: unknown): Promise<PageParts> {
  const made = await page.heading?.(answer, view)
  const top = takeJsonLinks(made ?? html``)
  const main = takeJsonLinks(await page.render(answer, view))
  const whole = html`${top.content} ${main.content}`
  const asOf = asOfIn(answer)
  const state = asOf === null || hasAsOf(whole) ? null : asOfLine(asOf, view)
  const shown = hasShortAmount(whole) ? (part: Html): Html => part : withoutSwitch
  return {
    heading: made === undefined ? null : shown(top.content),
    content: shown(main.content),
    state: state === null ? null : shown(state),
    links:
      top.links === null || main.links === null
        ? (top.links ?? main.links)
        : html`${top.links} · ${main.links}`,
  }
}
