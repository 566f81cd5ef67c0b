import type { ContestLedger, ContestWire, Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import type { EventWire } from '../../../protocol/event.ts'
import { isWholeList } from '../../frame/answers.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { eventLink, isPositive, isZero } from '../../markup/amount-html.ts'
import { book, type BookLine } from '../../markup/book.ts'
import { NO_END, quotedText } from '../../markup/contest-name.ts'
import { expressed } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { clockMoment, nearMoment } from '../../markup/moment-html.ts'
import { spanBetween } from '../../markup/time-words.ts'

/** Newest events of a contest's state. A contest has few, unless it is often rescheduled. */
const EVENTS_ASKED = 20

/** Events that changed a contest's state, the newest first. */
export async function askTimeline({ id }: ContestWire, view: View): Promise<LinkedAnswer<EventsPage>> {
  const query = `type=contest&contestId=${id}&order=desc&limit=${EVENTS_ASKED}&details=1`
  return askEndpoint(view, 'events', { query })
}

/** Answers that have the course of a contest. `unpaid` is null when none of its prizes waits. */
type Course = Readonly<{
  ledger: ContestLedger
  timeline: LinkedAnswer<EventsPage>
  unpaid: LinkedAnswer<Payouts> | null
}>

/** Line of the course, and its moment; null for what is still to come. */
type Step = Readonly<{ at: string | null; line: BookLine }>

/** Course of a contest as lines of the book, in order of time. Future lines are soft. */
export function courseOf(course: Course, view: View): Html {
  const { contest } = course.ledger
  const steps = [
    ...opening(course, view),
    ...closing(course, view),
    ...payingSteps(course, view),
    ...ending(course, view),
    ...renamings(course, view),
  ]
  return html`<h2>Course</h2>
    ${book(
      steps.toSorted(byMoment).map(({ line }) => line),
      null,
    )}
    <p class="source">
      <a href="/events?contestId=${contest.id}">Every event of this contest</a>
    </p>`
}

/** Order of time. Steps to come are last, in their own order. */
function byMoment(a: Step, b: Step): number {
  if (a.at === b.at) return 0
  return b.at === null || (a.at !== null && a.at < b.at) ? -1 : 1
}

/** Moment and event by which a contest reached a state; null until then. A contest may have many later events. */
function stepOf(
  name: string,
  kind: string,
  field: 'openedAt' | 'closedAt' | 'cancelledAt' | 'paidAt',
  { ledger: { contest }, timeline }: Course,
  view: View,
): Step | null {
  const at = contest[field]
  if (at === null) return null
  const index = timeline.answer.events.findIndex((event) => event.kind === kind)
  const event = timeline.answer.events[index]
  if (event === undefined) return { at, line: { when: momentAt(`/contest/${field}`, at, view), what: name } }
  const pointer = `${timeline.address}#/events/${index}`
  const line = { when: momentAt(`${pointer}/at`, event.at, view), what: name, small: seqOf(event, pointer) }
  return { at, line }
}

function seqOf({ seq }: EventWire, pointer: string): Html {
  return html`event <span data-at="${pointer}/seq">${eventLink(seq)}</span>`
}

function opening(course: Course, view: View): readonly Step[] {
  const { contest } = course.ledger
  const opened = stepOf('Opened', 'opened', 'openedAt', course, view)
  if (opened !== null) return [opened]
  return contest.closedAt === null ? [plannedStep('Opens', '/contest/opensAt', contest.opensAt, view)] : []
}

function closing(course: Course, view: View): readonly Step[] {
  const { contest } = course.ledger
  const cancelled = withReason(stepOf('Cancelled', 'cancelled', 'cancelledAt', course, view), course)
  const closed = cancelled ?? stepOf('Closed', 'closed', 'closedAt', course, view)
  if (closed !== null) return [closed]
  if (contest.closesAt !== null) return [plannedStep('Closes', '/contest/closesAt', contest.closesAt, view)]
  return [{ at: null, line: { as: 'soft', when: 'to come', what: 'Closes', small: NO_END } }]
}

/** Step of a cancellation with the operator's reason. */
function withReason(step: Step | null, { timeline }: Course): Step | null {
  const seq = timeline.answer.events.find(({ kind }) => kind === 'cancelled')?.seq ?? 0
  const reason = reasonOf(seq, timeline)
  if (step === null || reason === null) return step
  return { ...step, line: { ...step.line, small: html`${step.line.small ?? null}: ${reason}` } }
}

/** The operator's reason for an event of the timeline; null without one. */
function reasonOf(seq: number, { address, answer }: LinkedAnswer<EventsPage>): Html | null {
  const reason = answer.details?.[seq]?.['reason']
  if (typeof reason !== 'string') return null
  return html`<span data-at="${address}#/details/${seq}/reason">${quotedText(reason)}</span>`
}

/** Each new title of a contest. The first one stays in the log. */
function renamings({ timeline }: Course, view: View): readonly Step[] {
  const { address, answer } = timeline
  return answer.events.flatMap((event, index) => {
    if (event.kind !== 'renamed') return []
    const { seq, at } = event
    const pointer = `${address}#/events/${index}`
    const title = quotedText(String(answer.details?.[seq]?.['title']))
    const reason = reasonOf(seq, timeline)
    const line = {
      when: momentAt(`${pointer}/at`, at, view),
      what: html`Renamed “<span data-at="${address}#/details/${seq}/title">${title}</span>”`,
      small: html`${seqOf(event, pointer)}${reason === null ? null : html`: ${reason}`}`,
    }
    return [{ at, line }]
  })
}

function plannedStep(name: string, pointer: string, at: string, view: View): Step {
  const when = momentAt(pointer, at, view)
  return { at: null, line: { as: 'soft', when, what: name, small: 'as planned' } }
}

/** First and newest payment. */
function payingSteps({ ledger }: Course, view: View): readonly Step[] {
  const { contest, payouts } = ledger
  const [first] = payouts
  // A correction among the payouts is no payment; it cancels one.
  const corrected = payouts.filter(({ type }) => type === 'correction').length
  const count = payouts.filter(({ type }) => type === 'payout').length
  const lastIndex = payouts.findLastIndex(({ type }) => type === 'payout')
  const last = payouts[lastIndex]
  const steps: Step[] = []
  const settledAt = contest.outcome === 'owing' ? null : contest.paidAt
  if (first !== undefined && !view.query.has('after')) {
    const line = {
      when: momentAt('/payouts/0/at', first.at, view),
      what: 'First payment',
      small: after('/payouts/0/at', first.at, contest) ?? seqOf(first, '/payouts/0'),
    }
    steps.push({ at: first.at, line })
  }
  if (last !== undefined && count > 1 && isWholeList(ledger, view)) {
    const line = {
      when: momentAt(`/payouts/${lastIndex}/at`, last.at, view),
      what: settledAt === null ? 'Newest payment' : 'Last payment',
      small: html`of
      ${expressed('payments /payouts/*/type', String(count))}${settledAt === null ? ' so far' : null}${
        corrected === 0
          ? null
          : html`, ${expressed('corrections /payouts/*/type', String(corrected))} of them corrected`
      }`,
    }
    steps.push({ at: last.at, line })
  }
  return steps
}

/** End of a contest that has closed, as far as it is known. */
function ending(course: Course, view: View): readonly Step[] {
  const { contest } = course.ledger
  const paid = stepOf(endOf(course), 'paid', 'paidAt', course, view)
  if (paid === null) return contest.closedAt === null ? [] : [{ at: null, line: openEnd(course, view) }]
  const { small: event } = paid.line
  const span = spanToEnd(contest)
  const small = html`${event ?? null}${event === undefined || span === null ? null : ', '}${span}`
  const settled = { ...paid, line: { ...paid.line, small } }
  return contest.outcome === 'owing' ? [settled, { at: null, line: REOPENED }] : [settled]
}

function momentAt(pointer: string, moment: string, view: View): Html {
  return html`<span data-at="${pointer}">${clockMoment(moment, view)}</span>`
}

/** Time from the close of a contest to a later event. */
function after(pointer: string, moment: string, { closedAt, outcome }: ContestWire): Html | null {
  if (closedAt === null || moment < closedAt) return null
  return html`${expressed(`span /contest/closedAt ${pointer}`, spanBetween(closedAt, moment))} after it
  ${outcome === 'cancelled' ? 'was cancelled' : 'closed'}`
}

function spanToEnd(contest: ContestWire): Html | null {
  return contest.paidAt === null ? null : after('/contest/paidAt', contest.paidAt, contest)
}

/** Name of the last step of a contest. A cancelled contest can only give back the balance of its pool. */
function endOf({ ledger: { contest, pool } }: Course): string {
  if (contest.outcome !== 'cancelled') return 'Settled'
  const { refund = '0', ...others } = pool.out
  const isGiven = isPositive(refund) && [pool.balance, ...Object.values(others)].every(isZero)
  return isGiven ? 'The pool was given back' : 'Settled'
}

/** Step after a contest's settlement, when a correction left prizes unpaid. */
const REOPENED: BookLine = {
  as: 'soft',
  when: 'to come',
  what: 'What is owed is paid',
  small: 'Not yet: a correction left it unpaid',
}

/** End of a contest that still pays, with its earliest moment if every prize's date is known. */
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
  if (last.availableAtMs <= view.now) {
    const isPayable = rows.some(({ status }) => status === 'payable')
    return {
      ...soft,
      small: isPayable ? 'Not yet: the rest can be paid now' : 'Not yet: the rest is to be claimed',
    }
  }
  const pointer = `${unpaid.address}#/unpaid/${rows.indexOf(last)}/availableAt`
  return {
    ...soft,
    small: html`Not yet: <span data-at="${pointer}">${nearMoment(last.availableAt, view)}</span> at the
      earliest`,
  }
}
