import { PRICE_PATTERN } from '../../../protocol/amount.ts'
import { ENDPOINTS } from '../../../protocol/endpoints/endpoints.ts'
import { boundOf, DAY_MS, formatAt } from '../../../protocol/moment.ts'
import type { Summary } from '../../../protocol/resources.ts'
import { amountHtml, countHtml, eventLink, isPositive, priceHtml } from '../../markup/amount-html.ts'
import { derived, minus, type Term } from '../../markup/derived.ts'
import { askEndpoint, jsonLinks, type LinkedAnswer } from '../../frame/linked-answers.ts'
import { type Html, html } from '../../markup/html.ts'
import { asOfLine } from '../../frame/state-line.ts'
import { momentOf } from '../../markup/moment-html.ts'
import type { Page, View } from '../../frame/page.ts'
import { AMOUNTS, CONTEST_COUNTS, COUNTS } from './summary-figures.ts'

const AT = ENDPOINTS.flatMap(({ id, parameters }) =>
  id === 'summary' ? parameters.map((one) => ({ ...one, absent: 'a day before the newest event' })) : [],
)

/** `/compare`: the summary of a past moment beside the present one. It needs two answers, so it has no endpoint. */
export const comparePage: Page<null> = {
  endpoint: null,
  path: '/compare',
  parameters: AT,
  asksMore: true,
  title: () => 'Then and now',
  async redirect(view) {
    // The summary page explains the error of the moment.
    const { query } = view
    return (await view.ask('summary', { query: query.format().slice(1) })).ok
      ? null
      : `/summary${query.format()}`
  },
  async render(_, view) {
    const now = await askEndpoint(view, 'summary')
    const { atMs } = now.answer.asOf
    if (atMs === null) {
      return html`<p>No event has been published yet: there is nothing to compare.</p>
        ${jsonLinks([['now', now]])}`
    }
    const asked = view.query.has('at')
      ? view.query.format().slice(1)
      : `at=${formatAt(boundOf(Math.max(0, atMs - DAY_MS)))}`
    const then = await askEndpoint(view, 'summary', { query: asked })
    return html`<p>Then is ${stateOf(then)}. ${eventsBetween(then, now)}</p>
      ${asOfLine(now.answer.asOf, view)}
      <div class="two">
        <section>${tableOf(then, now, view)}</section>
        <aside aria-label="The two moments">
          <h2>Another moment</h2>
          ${formOf(then.answer, view)}
          <p class="quiet">
            The difference is now minus then. “Then” is what was known at that moment, so a later correction
            is part of the difference.
          </p>
        </aside>
      </div>
      ${jsonLinks([
        ['now', now],
        ['then', then],
      ])}`
  },
}

function eventsBetween(then: LinkedAnswer<Summary>, now: LinkedAnswer<Summary>): Html {
  const since = then.answer.asOf.seq
  const all = minus(
    { pointer: `${now.address}#/asOf/seq`, figure: now.answer.asOf.seq },
    { pointer: `${then.address}#/asOf/seq`, figure: since },
  )
  if (all.figure === '0') return html`Nothing has been published since.`
  return html`<a href="/events?after=${since}"
      >${derived(all)} ${all.figure === '1' ? 'event was' : 'events were'} published since</a
    >.`
}

function stateOf({ answer, address }: LinkedAnswer<Summary>): Html {
  const { at, seq } = answer.asOf
  const page = address.slice('/api/v1'.length)
  return at === null
    ? html`<a href="${page}">before the first event</a>`
    : html`<span data-at="${address}#/asOf/at ${address}#/asOf/seq"
        ><a href="${page}">${momentOf(at)}</a>, up to event ${eventLink(seq)}</span
      >`
}

function formOf({ asOf }: Summary, { query }: View): Html {
  const asked = query.time('at')
  const at = asked === undefined ? asOf.at : formatAt(asked)
  return html`<form class="ask" method="get" action="/compare" data-chrome>
    <label
      >Then, UTC <input type="datetime-local" name="at" required value="${at?.slice(0, 16) ?? ''}"
    /></label>
    <button>Compare with now</button>
  </form>`
}

function tableOf(
  { answer: then, address: thenAt }: LinkedAnswer<Summary>,
  now: LinkedAnswer<Summary>,
  { site }: View,
): Html {
  const row = (label: string, pointer: string, was: Figure, is: Figure): Html =>
    rowOf(
      label,
      { pointer: `${thenAt}#${pointer}`, figure: was },
      { pointer: `${now.address}#${pointer}`, figure: is },
    )
  return html`<div class="wide" role="region" aria-label="Figures then and now" tabindex="0">
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">Figure</th>
          <th scope="col" class="r">Then</th>
          <th scope="col" class="r">Now</th>
          <th scope="col" class="r">Difference</th>
        </tr>
      </thead>
      <tbody>
        ${AMOUNTS.map(([key, label]) => row(`${label}, ${site.token}`, `/${key}`, then[key], now.answer[key]))}
        ${row('Token price, USD', '/tokenPriceUsd', then.tokenPriceUsd, now.answer.tokenPriceUsd)}
        ${COUNTS.map(([key, label]) => row(label, `/${key}`, then[key], now.answer[key]))}
        ${CONTEST_COUNTS.map(([key, label]) => row(label, `/contests/${key}`, then.contests[key], now.answer.contests[key]))}
      </tbody>
    </table>
  </div>`
}

type Figure = string | number | null

function rowOf(label: string, then: Omit<Term, 'figure'> & { figure: Figure }, now: typeof then): Html {
  return html`<tr data-key="${label}">
    <th scope="row">${label}</th>
    <td class="r" data-label="then" data-at="${then.pointer}">${figureHtml(then.figure)}</td>
    <td class="r" data-label="now" data-at="${now.pointer}">${figureHtml(now.figure)}</td>
    <td class="r" data-label="difference">
      ${
        then.figure === null || now.figure === null
          ? UNKNOWN
          : differenceOf({ ...now, figure: now.figure }, { ...then, figure: then.figure })
      }
    </td>
  </tr>`
}

function differenceOf(now: Term, then: Term): Html {
  const change = minus(now, then)
  return html`${isPositive(change.figure) ? '+' : ''}${derived(change)}`
}

const UNKNOWN = html`<span class="none">not known</span>`

function figureHtml(figure: Figure): Html {
  if (figure === null) return UNKNOWN
  if (typeof figure === 'number') return countHtml(figure)
  return PRICE_PATTERN.test(figure) ? priceHtml(figure) : amountHtml(figure)
}
