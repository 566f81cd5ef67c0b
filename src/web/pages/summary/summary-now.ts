import { ENDPOINT_PATHS } from '../../../protocol/paths.ts'
import type {
  Contests,
  ContestWire,
  EventsPage,
  Planned,
  Schedule,
  Summary,
} from '../../../protocol/resources.ts'
import { amountHtml, amountOrNone, eventLink } from '../../markup/amount-html.ts'
import { contestLink } from '../../markup/contest-name.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { stateChip } from '../../markup/kind-words.ts'
import { momentOf } from '../../markup/moment-html.ts'
import { eventNote } from '../events/event-note.ts'
import type { View } from '../../frame/page.ts'

const CONTESTS_SHOWN = 5
/** Newest contests that run or pay that are read to find these. The page's text says a hundred. */
const CONTESTS_READ = 100
const EVENTS_SHOWN = 10

/** Contests that run or pay, and the next planned ones. Only for the present, since the API does not have past ones. */
export async function currentContests(summary: Summary, view: View): Promise<Html> {
  const contests = await askEndpoint(view, 'contests', {
    query: `status=running,paying&limit=${CONTESTS_READ}`,
  })
  const schedule = await askEndpoint(view, 'schedule')
  const { upcoming, running, paying, paid } = summary.contests
  return html`<h2>Contests</h2>
    <p data-at="/contests/running /contests/paying /contests/upcoming /contests/paid">
      ${running} running, ${paying} paying out prizes, ${upcoming} to come, ${paid} paid in full.
      ${nextOf(schedule)}
    </p>
    ${
      contests.answer.contests.length === 0
        ? html`<p>
            No contest is running or paying now. <a href="/schedule">See what is planned</a>, or
            <a href="/contests">all contests</a>.
          </p>`
        : contestTable(contests, view)
    }
    ${jsonLinks([
      ['contests', contests],
      ['schedule', schedule],
    ])}`
}

function nextOf({ answer: { opens, closes }, address }: LinkedAnswer<Schedule>): Html {
  const plannedText = (word: string, [next]: readonly Planned[], pointer: string): Html | null =>
    next === undefined
      ? null
      : html`<span data-at="${pointer}/title ${pointer}/contestId ${pointer}/at"
          >Next to ${word}: ${contestLink(next.contestId, next.title)}, planned for
          ${momentOf(next.at)}.</span
        > `
  return html`${plannedText('open', opens, `${address}#/opens/0`)}${plannedText('close', closes, `${address}#/closes/0`)}`
}

function contestTable({ answer: { contests, next }, address }: LinkedAnswer<Contests>, { site }: View): Html {
  const list = `${address}#/contests`
  return html`<p class="quiet">
      ${next === null ? null : 'Of the newest hundred that run or pay: '}${next === null ? 'Those' : 'those'}
      that run first, by when they close; then those that pay.
    </p>
    <div class="wide" role="region" aria-label="Contests that run or pay" tabindex="0">
      <table class="cards" data-list="${list}" data-most="${CONTESTS_SHOWN}">
        <thead>
          <tr>
            <th scope="col" data-field="title id">Contest</th>
            <th scope="col" data-field="status">State</th>
            <th scope="col" class="r" data-field="pool">Pool, ${site.token}</th>
            <th scope="col" class="r" data-field="prizesNotRedeemed">Not yet redeemed, ${site.token}</th>
            <th scope="col" data-field="closedAt|closesAt">Closes or closed</th>
          </tr>
        </thead>
        <tbody>
          ${soonestFirst(contests).map(
            ({ one, index }) =>
              html`<tr data-row="${list}/${index}">
                <th scope="row" class="all">${contestLink(one.id, one.title)}</th>
                <td>${stateChip(one.status)}</td>
                <td class="r" data-label="pool">${amountHtml(one.pool)}</td>
                <td class="r" data-label="unpaid">${amountHtml(one.prizesNotRedeemed)}</td>
                <td data-label="${one.closedAt === null ? 'closes' : 'closed'}">
                  ${momentOf(one.closedAt ?? one.closesAt)}
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p>
      <a href="/contests?status=running,paying">All that run or pay</a> · <a href="/contests">All contests</a>
    </p>`
}

/** Running contests by their planned close, then paying ones in the answer's order, each with its index. */
function soonestFirst(
  contests: readonly ContestWire[],
): readonly Readonly<{ one: ContestWire; index: number }>[] {
  const rank = ({ status, closesAtMs }: ContestWire): number => (status === 'running' ? closesAtMs : Infinity)
  return contests
    .map((one, index) => ({ one, index }))
    .toSorted((a, b) => (rank(a.one) === rank(b.one) ? 0 : rank(a.one) - rank(b.one)))
    .slice(0, CONTESTS_SHOWN)
}

/** The newest events that the summary counts. */
export async function newestEvents({ asOf }: Summary, view: View): Promise<Html | null> {
  if (asOf.seq === 0) return null
  const query = `order=desc&before=${asOf.seq + 1}&limit=${EVENTS_SHOWN}&details=1`
  const events = await askEndpoint(view, 'events', { query })
  const all = view.paths.has('/events')
    ? html`<p><a href="/events?order=desc&before=${asOf.seq + 1}&limit=100">Older events</a></p>`
    : null
  return html`<h2>Newest events</h2>
    ${eventTable(events, view)} ${all} ${jsonLinks([['events', events]])}`
}

function eventTable(detailed: LinkedAnswer<EventsPage>, { site }: View): Html {
  const { answer, address } = detailed
  return html`<div class="wide" role="region" aria-label="Newest events" tabindex="0">
    <table class="cards" data-list="${address}#/events">
      <thead>
        <tr>
          <th scope="col" data-field="seq">Event</th>
          <th scope="col" data-field="type kind">Type and kind</th>
          <th scope="col" data-field="contestId">Contest</th>
          <th scope="col" class="r" data-field="kots">${site.token}</th>
          <th scope="col" data-field="at">Published</th>
        </tr>
      </thead>
      <tbody data-live-rows="beside">
        ${answer.events.map(
          ({ seq, type, kind, at, contestId, kots }) =>
            html`<tr>
              <th scope="row">${eventLink(seq)}</th>
              <td><span class="n">${type} / ${kind}</span> ${eventNote(seq, detailed)}</td>
              <td>
                ${contestId === null ? null : html`<a href="/contests/${contestId}/ledger">#${contestId}</a>`}
              </td>
              <td class="r">${amountOrNone(kots, '')}</td>
              <td class="far">${momentOf(at)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** Link to the verification of the log. */
export function verifyLink({ paths }: View): Html {
  const way = paths.has('/verify')
    ? html`Every figure can be computed again from the public files: <a href="/verify">verify the log</a>.`
    : html`Every figure can be computed again from the public files. The log’s
        <a href="${ENDPOINT_PATHS.logCheckpoint}">signed checkpoint</a>.`
  return html`<h2>Check it yourself</h2>
    <p>Nothing in the log is ever rubbed out, and its history is signed. ${way}</p>`
}
