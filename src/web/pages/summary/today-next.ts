import type { Contests, Schedule, Summary } from '../../../protocol/resources.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import type { View } from '../../frame/page.ts'
import { amountHtml, countHtml } from '../../markup/amount-html.ts'
import { sectionHead } from '../../markup/book.ts'
import { quotedText } from '../../markup/contest-name.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { nearMoment, untilMoment } from '../../markup/moment-html.ts'

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
            ${nameOf(id, title)} <b>${spanOf(closesAt, view)}</b>
            <small>Pool ${amountHtml(pool)} ${view.site.token}</small>
            <small>${nearMoment(closesAt, view)}</small>
          </li>`,
      )}
    </ol>`
}

/** Planned contests that open next, the soonest first. */
export function openingNext({ answer, address }: LinkedAnswer<Schedule>, most: number, view: View): Html {
  const planned = html`<p class="quiet"><a href="/schedule">All that is planned, as a calendar</a></p>`
  if (answer.opens.length === 0) {
    return html`<h2>Opening next</h2>
      <p>No contest is planned now.</p>
      ${planned}`
  }
  return html`<h2>Opening next</h2>
    <ol class="next" data-list="${address}#/opens" data-most="${most}" data-fields="title? contestId? at at">
      ${answer.opens
        .slice(0, most)
        .map(
          ({ contestId, title, at }) =>
            html`<li>
              ${nameOf(contestId, title)} <b>${spanOf(at, view)}</b> <small>${nearMoment(at, view)}</small>
            </li>`,
        )}
    </ol>
    ${planned}`
}

function nameOf(id: number, title: string | null): Html {
  return html`<a href="/contests/${id}/ledger"
    >${title === null ? html`Contest ${id}` : quotedText(title)}</a
  >`
}

/** `in 2 h`. A planned moment may have passed, since only an event closes or opens a contest: `due 5 min ago`. */
function spanOf(at: string, view: View): Html {
  return html`${Date.parse(at) < view.now ? 'due ' : ''}${untilMoment(at, view)}`
}
