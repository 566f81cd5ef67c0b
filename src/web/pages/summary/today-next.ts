import type { Contests, Schedule } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { amountHtml, countHtml } from '../../markup/amount-html.ts'
import { sectionHead } from '../../markup/book.ts'
import { contestTitleLink } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { nearMoment } from '../../markup/moment-html.ts'
import { openingList, untilPlanned } from '../schedule/opening-list.ts'

/** Running contests that close next, the soonest first. */
export function closingNext(
  { answer, address }: LinkedAnswer<Contests>,
  { contests: { running } }: Summary,
  view: View,
): Html {
  const all = html`<a href="/contests?status=running" data-at="/contests/running"
    >${countHtml(running)} running</a
  >`
  if (answer.contests.length === 0) {
    return html`${sectionHead('Closing next')}
      <p>No contest is running now. <a href="/schedule">See what is planned</a>.</p>`
  }
  return html`${sectionHead('Closing next', all)}
    <ol class="next" data-list="${address}#/contests" data-fields="title? id? closesAt pool closesAt">
      ${answer.contests.map(
        ({ id, title, closesAt, pool }) =>
          html`<li>
            ${contestTitleLink(id, title)} <b>${untilPlanned(closesAt, view)}</b>
            <small>Pool ${amountHtml(pool)} ${view.site.token}</small>
            <small>${nearMoment(closesAt, view)}</small>
          </li>`,
      )}
    </ol>`
}

/** Planned contests that open next, the soonest first. */
export function openingNext(opening: LinkedAnswer<Schedule>, most: number, view: View): Html {
  const planned = html`<p class="quiet"><a href="/schedule">All that is planned, as a calendar</a></p>`
  if (opening.answer.opens.length === 0) {
    return html`<h2>Opening next</h2>
      <p>No contest is planned now.</p>
      ${planned}`
  }
  return html`<h2>Opening next</h2>
    ${openingList(opening, most, view)} ${planned}`
}
