import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { ContestWire, EventsPage, Planned, Schedule, Summary } from '../../protocol/resources.ts'
import { amount, amountOrNone, eventLink } from './amount.ts'
import { contestLink, statusPill } from './contest-name.ts'
import { further, jsonLine } from './further.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { momentOf } from './moment.ts'
import type { View } from './page.ts'

const CONTESTS_SHOWN = 5
const EVENTS_SHOWN = 10

/** What is under way: contests that run or pay, and what is next. Only of the present: no answer knows it of a past one. */
export async function underWay(summary: Summary, view: View): Promise<Html> {
  const query = `status=running,paying&limit=${CONTESTS_SHOWN}`
  const contests = await further(view, 'contests', { query })
  const schedule = await further(view, 'schedule')
  const { upcoming, running, paying, paid } = summary.contests
  return html`<h2>Contests</h2>
    <p>
      ${running} running, ${paying} paying out prizes, ${upcoming} to come, ${paid} paid in full.
      ${nextOf(schedule.answer)}
    </p>
    ${
      contests.answer.contests.length === 0
        ? html`<p>
            No contest is running or paying now. <a href="/schedule">See what is planned</a>, or
            <a href="/contests">all contests</a>.
          </p>`
        : contestTable(contests.answer.contests, view)
    }
    ${jsonLine([
      ['contests', contests],
      ['schedule', schedule],
    ])}`
}

function nextOf({ opens, closes }: Schedule): Html {
  const said = (word: string, [next]: readonly Planned[]): Html | null =>
    next === undefined
      ? null
      : html`Next to ${word}: ${contestLink(next.contestId, next.title)}, planned for ${momentOf(next.at)}. `
  return html`${said('open', opens)}${said('close', closes)}`
}

function contestTable(contests: readonly ContestWire[], { site }: View): Html {
  return html`<div class="wide" role="region" aria-label="Contests that run or pay" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">Contest</th>
            <th scope="col">State</th>
            <th scope="col" class="r">Pool, ${site.token}</th>
            <th scope="col" class="r">Not yet redeemed, ${site.token}</th>
            <th scope="col">Closes</th>
          </tr>
        </thead>
        <tbody>
          ${contests.map(
            (one) =>
              html`<tr>
                <th scope="row">${contestLink(one.id, one.title)}</th>
                <td>${statusPill(one.status)}</td>
                <td class="r">${amount(one.pool)}</td>
                <td class="r">${amount(one.prizesNotRedeemed)}</td>
                <td>${momentOf(one.closedAt ?? one.closesAt)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p>
      <a href="/contests?status=running,paying">All that run or pay</a> · <a href="/contests">All contests</a>
    </p>`
}

/** The newest events that the summary counts. */
export async function newestEvents({ asOf }: Summary, view: View): Promise<Html | null> {
  if (asOf.seq === 0) return null
  const query = `order=desc&before=${asOf.seq + 1}&limit=${EVENTS_SHOWN}`
  const events = await further(view, 'events', { query })
  const all = view.paths.has('/events')
    ? html`<p><a href="/events?order=desc&before=${asOf.seq + 1}&limit=100">More of them, backwards</a></p>`
    : null
  return html`<h2>Newest events</h2>
    ${eventTable(events.answer, view)} ${all} ${jsonLine([['events', events]])}`
}

function eventTable({ events }: EventsPage, { site }: View): Html {
  return html`<div class="wide" role="region" aria-label="Newest events" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Type and kind</th>
          <th scope="col">Published</th>
          <th scope="col">Contest</th>
          <th scope="col" class="r">${site.token}</th>
        </tr>
      </thead>
      <tbody data-live-rows="beside">
        ${events.map(
          ({ seq, type, kind, at, contestId, kots }) =>
            html`<tr>
              <th scope="row">${eventLink(seq)}</th>
              <td>${type} / ${kind}</td>
              <td>${momentOf(at)}</td>
              <td>
                ${contestId === null ? null : html`<a href="/contests/${contestId}/ledger">#${contestId}</a>`}
              </td>
              <td class="r">${amountOrNone(kots, '')}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** Why to believe it, and how not to have to. */
export function checkIt({ paths }: View): Html {
  const way = paths.has('/verify')
    ? html`<a href="/verify">Check it yourself</a>: every figure can be computed again from the public files.`
    : html`Every figure can be computed again from the public files. The log’s
        <a href="${ENDPOINT_PATHS.logCheckpoint}">signed checkpoint</a>.`
  return html`<h2>Do not trust this page</h2>
    <p>Nothing in the log is ever rubbed out, and its history is signed. ${way}</p>`
}
