import type { EventWire } from '../../../protocol/event.ts'
import type { ContestLedger, ContestWire, Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import { eventLink, isPositive, isZero } from '../../markup/amount-html.ts'
import { book, type BookLine } from '../../markup/book.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import { type Html, html } from '../../markup/html.ts'
import { quotedText } from '../../markup/contest-name.ts'
import { clockMoment, nearMoment } from '../../markup/moment-html.ts'
import { isWholeList } from '../../frame/page-rows.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { spanBetween } from '../../markup/time-words.ts'
import { expressed } from '../../markup/derived.ts'

/** Newest events of a contest's state. A contest has few, unless it is rescheduled again and again. */
const EVENTS_ASKED = 20

/** Events that changed a contest's state, the newest first. */
export async function askTimeline({ id }: ContestWire, view: View): Promise<LinkedAnswer<EventsPage>> {
  const query = `type=contest&contestId=${id}&order=desc&limit=${EVENTS_ASKED}&details=1`
  return askEndpoint(view, 'events', { query })
}

type Course = Readonly<{
  ledger: ContestLedger
  timeline: LinkedAnswer<EventsPage>
  unpaid: LinkedAnswer<Payouts> | null
}>

/** Course of a contest as lines of the book; what is still to come is soft. */
export function courseOf(course: Course, view: View): Html {
  const { contest } = course.ledger
  return html`<h2>Course</h2>
    ${book([...opening(course, view), ...closing(course, view), ...paying(course, view)], null)}
    <p class="source">
      <a href="/events?contestId=${contest.id}">Every event of this contest</a>
    </p>`
}

/** Moment and event by which a contest reached a state. */
function stepOf(name: string, kind: string, { timeline }: Course, view: View): BookLine | null {
  const index = timeline.answer.events.findIndex((event) => event.kind === kind)
  const event = timeline.answer.events[index]
  if (event === undefined) return null
  const pointer = `${timeline.address}#/events/${index}`
  return {
    when: at(`${pointer}/at`, event.at, view),
    what: name,
    small: seqOf(event, pointer),
  }
}

function seqOf({ seq }: EventWire, pointer: string): Html {
  return html`event <span data-at="${pointer}/seq">${eventLink(seq)}</span>`
}

function opening(course: Course, view: View): readonly BookLine[] {
  const { contest } = course.ledger
  const opened = stepOf('Opened', 'opened', course, view)
  if (opened !== null) return [opened]
  // A contest that was rescheduled often has its opening among older events.
  if (contest.openedAt !== null) {
    return [{ when: at('/contest/openedAt', contest.openedAt, view), what: 'Opened' }]
  }
  if (contest.closedAt !== null) return []
  return [plannedLine('Opens', 'opensAt', contest, view)]
}

function closing(course: Course, view: View): readonly BookLine[] {
  const { contest } = course.ledger
  const cancelled = withReason(stepOf('Cancelled', 'cancelled', course, view), course)
  const closed = cancelled ?? stepOf('Closed', 'closed', course, view)
  return [closed ?? plannedLine('Closes', 'closesAt', contest, view)]
}

/** The line of a cancellation with the reason that the operator gave. */
function withReason(line: BookLine | null, { timeline }: Course): BookLine | null {
  const { events, details } = timeline.answer
  const seq = events.find(({ kind }) => kind === 'cancelled')?.seq ?? 0
  const reason = details?.[seq]?.['reason']
  if (line === null || typeof reason !== 'string') return line
  const pointer = `${timeline.address}#/details/${seq}/reason`
  return {
    ...line,
    small: html`${line.small ?? null}: <span data-at="${pointer}">${quotedText(reason)}</span>`,
  }
}

function plannedLine(
  name: string,
  field: 'opensAt' | 'closesAt',
  contest: ContestWire,
  view: View,
): BookLine {
  return {
    as: 'soft',
    when: at(`/contest/${field}`, contest[field], view),
    what: name,
    small: 'as planned',
  }
}

/** First and newest payment, and the end or what is known of it. */
function paying(course: Course, view: View): readonly BookLine[] {
  const { ledger } = course
  const { contest, payouts } = ledger
  const isWhole = isWholeList(ledger, view)
  const [first] = payouts
  // A correction among the payouts is no payment, and cancels one.
  const corrected = payouts.filter(({ type }) => type === 'correction').length
  const count = payouts.filter(({ type }) => type === 'payout').length
  const lastIndex = payouts.findLastIndex(({ type }) => type === 'payout')
  const last = payouts[lastIndex]
  const lines: BookLine[] = []
  const later: BookLine[] = []
  const settledAt = contest.outcome === 'owing' ? null : contest.paidAt
  if (first !== undefined && !view.query.has('after')) {
    lines.push({
      when: at('/payouts/0/at', first.at, view),
      what: 'First payment',
      small: after('/payouts/0/at', first.at, contest) ?? seqOf(first, '/payouts/0'),
    })
  }
  if (last !== undefined && count > 1 && isWhole) {
    const pointer = `/payouts/${lastIndex}`
    // Prizes that a correction left unpaid may be paid after the end.
    const place = contest.paidAt !== null && last.at > contest.paidAt ? later : lines
    place.push({
      when: at(`${pointer}/at`, last.at, view),
      what: settledAt === null ? 'Newest payment' : 'Last payment',
      small: html`of
      ${expressed('payments /payouts/*/type', String(count))}${settledAt === null ? ' so far' : null}${
        corrected === 0
          ? null
          : html`, ${expressed('corrections /payouts/*/type', String(corrected))} of them corrected`
      }`,
    })
  }
  const paid = stepOf(endOf(course), 'paid', course, view)
  if (paid === null) return contest.closedAt === null ? lines : [...lines, ...later, openEnd(course, view)]
  return [
    ...lines,
    { ...paid, small: html`${paid.small ?? null}${spanToEnd(contest)}` },
    ...later,
    ...(contest.outcome === 'owing' ? [REOPENED] : []),
  ]
}

function at(pointer: string, moment: string, view: View): Html {
  return html`<span data-at="${pointer}">${clockMoment(moment, view)}</span>`
}

/** Time from the close of a contest to something that followed. */
function after(pointer: string, moment: string, { closedAt, outcome }: ContestWire): Html | null {
  if (closedAt === null || moment < closedAt) return null
  return html`${expressed(`span /contest/closedAt ${pointer}`, spanBetween(closedAt, moment))} after it
  ${outcome === 'cancelled' ? 'was cancelled' : 'closed'}`
}

function spanToEnd(contest: ContestWire): Html | null {
  const span = contest.paidAt === null ? null : after('/contest/paidAt', contest.paidAt, contest)
  return span === null ? null : html`, ${span}`
}

/** Name of the last step of a contest. A cancelled one can only give back the balance of its pool. */
function endOf({ ledger: { contest, pool } }: Course): string {
  if (contest.outcome !== 'cancelled') return 'Settled'
  const { refund = '0', ...others } = pool.out
  const isGiven = isPositive(refund) && [pool.balance, ...Object.values(others)].every(isZero)
  return isGiven ? 'The pool was given back' : 'Settled'
}

/** Step that follows the settlement of a contest that a correction left owing. */
const REOPENED: BookLine = {
  as: 'soft',
  when: 'to come',
  what: 'What is owed is paid',
  small: 'Not yet: a correction left it unpaid',
}

/** The end of a contest that still pays, and the earliest moment of it if every prize's date is known. */
function openEnd(course: Course, view: View): BookLine {
  const { ledger, unpaid } = course
  const { contest } = ledger
  const rows = unpaid?.answer.unpaid ?? []
  const [first] = rows
  const soft = { as: 'soft', when: 'to come', what: endOf(course) } as const
  if (unpaid === null || first === undefined || unpaid.answer.next !== null || contest.paidAt !== null) {
    return { ...soft, small: 'Not yet' }
  }
  const last = rows.reduce((latest, one) => (one.availableAtMs > latest.availableAtMs ? one : latest), first)
  if (last.availableAtMs <= view.now) return { ...soft, small: 'Not yet, though nothing waits for a date' }
  const pointer = `${unpaid.address}#/unpaid/${rows.indexOf(last)}/availableAt`
  return {
    ...soft,
    small: html`Not yet: <span data-at="${pointer}">${nearMoment(last.availableAt, view)}</span> at the
      earliest`,
  }
}
