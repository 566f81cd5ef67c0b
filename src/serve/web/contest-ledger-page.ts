import { boundOf, formatAt, parseAt } from '../../protocol/moment.ts'
import type { EventWire } from '../../protocol/event.ts'
import type { ContestLedger, ContestWire, EventsPage, Payouts, Unpaid } from '../../protocol/resources.ts'
import { amount, count, eventLink } from './amount.ts'
import { paidChart } from './contest-ledger-chart.ts'
import { payoutsOf, poolTable, prizeTable } from './contest-ledger-tables.ts'
import { contestName, redeemedMeter, statusPill } from './contest-name.ts'
import { derived, sumOfAll } from './derived.ts'
import type { Further } from './further.ts'
import { further, jsonLine } from './further.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { momentOf } from './moment.ts'
import type { Page, View } from './page.ts'
import { percentOf } from './share.ts'
import type { Table } from './table.ts'
import { unpaidTable } from './unpaid-table.ts'

/** `/contests/{id}/ledger`: whether everybody was paid, and by which transactions. */
export const contestLedgerPage: Page<ContestLedger> = {
  endpoint: 'contestLedger',
  further: true,
  title: ({ contest }) => contestName(contest.id, contest.title),
  csv: tableOf,
  async render(ledger, view) {
    const { contest } = ledger
    const unpaid =
      contest.status === 'paying'
        ? await further(view, 'payouts', { query: `contestId=${contest.id}` })
        : null
    const won = ledger.prizes.length > 0
    return html`${verdictOf(ledger, unpaid?.answer ?? null, view)} ${won ? prizeTable(ledger, view) : null}
    ${unpaid === null ? null : openPrizes(unpaid, contest, view)} ${paidChart(ledger, view)}
    ${payoutsOf(ledger, view)} ${poolTable(ledger, view)} ${await timelineOf(contest, view)}`
  },
}

/** The answer to what most come for, in one sentence. */
function verdictOf({ contest, prizes, pool }: ContestLedger, unpaid: Payouts | null, { site }: View): Html {
  const { status, prizesOwed, prizesRedeemed, prizesNotRedeemed } = contest
  const pill = statusPill(status)
  if (status === 'upcoming') {
    return html`<p class="lead">
      ${pill} Planned to open at ${momentOf(contest.opensAt)}: nothing is won yet.
    </p>`
  }
  if (status === 'running') {
    return html`<p class="lead">
      ${pill} Open until ${momentOf(contest.closesAt)}: prizes are won once it has closed.
      ${amount(contest.pool)} ${site.token} are in the pool.
    </p>`
  }
  if (prizes.length === 0) {
    const refunded = pool.out['refund']
    return html`<p class="lead">
      ${pill} No prize was won in this contest.
      ${refunded === undefined ? null : html`${amount(refunded)} ${site.token} were given back to players.`}
    </p>`
  }
  const share = percentOf(
    { figure: prizesRedeemed, pointer: '/contest/prizesRedeemed' },
    { figure: prizesOwed, pointer: '/contest/prizesOwed' },
  )
  const lapsed = sumOfAll(
    '/prizes/*/expired',
    prizes.map(({ expired }) => expired),
  )
  return html`<p class="lead">
      ${pill} Paid ${amount(prizesRedeemed)} of ${amount(prizesOwed)} ${site.token},
      ${amount(prizesNotRedeemed)}
      open${lapsed === null || !isMore(lapsed.figure) ? null : html`, ${derived(lapsed)} lapsed`}.
      ${isMore(prizesNotRedeemed) ? lastAvailable(unpaid) : html`<b class="ok">Nothing is left to pay.</b>`}
    </p>
    ${share === null ? null : html`<p>${redeemedMeter(prizesRedeemed, prizesOwed)} ${share} of what was won is paid.</p>`}`
}

/** Whether an amount is above zero. */
function isMore(figure: string): boolean {
  return /[1-9]/.test(figure) && !figure.startsWith('-')
}

/** When the last of what is open can be paid. */
function lastAvailable(payouts: Payouts | null): Html | null {
  const last = payouts?.unpaid.reduce<Unpaid | null>(
    (latest, one) => (latest === null || one.availableAtMs > latest.availableAtMs ? one : latest),
    null,
  )
  if (payouts === null || last === null || last === undefined) return null
  const { atMs } = payouts.now
  return last.availableAtMs > atMs
    ? html`The last of it becomes available at ${momentOf(last.availableAt)}.`
    : html`All of it has been available since ${momentOf(last.availableAt)}.`
}

function openPrizes(unpaid: Further<Payouts>, { id }: ContestWire, view: View): Html | null {
  const { unpaid: rows } = unpaid.answer
  if (rows.length === 0) return null
  return html`<h2>Still open</h2>
    ${unpaidTable(rows, view, { name: 'Prizes of this contest not yet paid', titles: null })}
    <p><a href="/payouts?contestId=${id}">What these states mean</a></p>
    ${jsonLine([['what is open', unpaid]])}`
}

/** Each state with the event that began it. */
async function timelineOf(contest: ContestWire, view: View): Promise<Html> {
  const { openedAt, closedAt, paidAt } = contest
  const come = [openedAt, closedAt, paidAt].filter((at) => at !== null)
  const answers: Further<EventsPage>[] = []
  for (const at of new Set(come)) {
    const from = parseAt(at)
    if (from === undefined) continue
    const query = `from=${at}&to=${formatAt(boundOf(from + 1))}&type=contest&contestId=${contest.id}`
    answers.push(await further(view, 'events', { query }))
  }
  const events = answers.flatMap(({ answer }) => answer.events)
  return html`<h2>Its course</h2>
    <ul class="timeline">
      <li>Planned from ${momentOf(contest.opensAt)} to ${momentOf(contest.closesAt)}</li>
      ${events.map(stepOf)}
      ${closedAt !== null && paidAt === null ? html`<li class="none">Not paid in full yet</li>` : null}
    </ul>
    <p>
      ${count(contest.entries)} entries and ${count(contest.plays)} plays, ${amount(contest.spentOnPlay)}
      ${view.site.token} spent on them.
      ${
        view.paths.has('/events')
          ? html`<a href="/events?contestId=${contest.id}">Every event of this contest</a>.`
          : null
      }
    </p>
    ${answers.length === 0 ? null : jsonLine(answers.map((answer, index) => [events[index]?.kind ?? 'events', answer]))}`
}

const STEPS: Readonly<Record<string, string>> = {
  scheduled: 'Scheduled',
  rescheduled: 'Rescheduled',
  opened: 'Opened',
  closed: 'Closed',
  cancelled: 'Cancelled',
  paid: 'Paid in full',
}

function stepOf({ kind, at, seq }: EventWire): Html {
  return html`<li>${STEPS[kind] ?? kind} at ${momentOf(at)}, ${eventLink(seq)}</li>`
}

const COLUMNS = ['seq', 'type', 'kind', 'at', 'atMs', 'contestId', 'kots', 'tx'] as const

function tableOf({ payouts, next }: ContestLedger): Table {
  return { columns: COLUMNS, rows: payouts.map((event) => COLUMNS.map((name) => event[name])), next }
}
