import type { ContestLedger, Payouts, Unpaid } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { UnpaidStatus } from '../../../protocol/enumerations.ts'
import { amountHtml, isPositive, isZero } from '../../markup/amount-html.ts'
import { type Segment, segmentBar } from '../../markup/book.ts'
import { type Html, html } from '../../markup/html.ts'
import { stateInWords, stateWords, waitsForDate, whoWins } from '../../markup/kind-words.ts'
import { clockMoment, nearMoment, untilMoment } from '../../markup/moment-html.ts'
import { NO_END } from '../../markup/contest-name.ts'
import { plainText } from '../../markup/page-lead.ts'
import { capitalized, listed } from '../../markup/prose.ts'
import { type LinkPreview, previewDate } from '../../preview/link-preview.ts'
import { drawableText } from '../../preview/preview-font.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { elapsedBar } from './contests-overview.ts'
import { type Derived, derived, derivedSum, expressed, wholePercentOf } from '../../markup/derived.ts'
import { hasPrizes, isOverpaid, partOf, paymentSums, poolSums } from './contest-sums.ts'

/** Everything that the verdict of a contest needs. */
type Verdict = Readonly<{
  ledger: ContestLedger
  /** Unpaid prizes; null if nothing is open. */
  unpaid: LinkedAnswer<Payouts> | null
  view: View
}>

/** Verdict of a contest's page in the largest type, and one sentence: who waits, why and from when. */
export function contestVerdict(verdict: Verdict): Html {
  const { say, lead, bar } = wordsOf(verdict)
  return html`<p class="say">${say}</p>
    <p class="lead">${lead}</p>
    ${bar ?? null}`
}

/** Link preview of a contest: its title, and the verdict of its page. */
export function contestPreview(ledger: ContestLedger, view: View): LinkPreview {
  const { contest, asOf } = ledger
  const title = contest.title === null ? null : drawableText(contest.title)
  return {
    headline: title === null ? `Contest ${contest.id}` : `Contest ${contest.id}: ${title}`,
    figure: plainText(wordsOf({ ledger, unpaid: null, view }).say),
    date: asOf.at === null ? '' : previewDate(asOf.at),
  }
}

type Words = Readonly<{ say: Html; lead: Html; bar?: Html | null }>

function wordsOf(verdict: Verdict): Words {
  const { ledger, view } = verdict
  const { contest } = ledger
  if (paymentSums(ledger, view)?.isEqual === false || poolSums(ledger)?.isEqual === false) {
    return { ...UNEQUAL, ...(hasPrizes(ledger) ? { bar: segments(verdict) } : {}) }
  }
  if (contest.outcome === 'cancelled') return cancelled(verdict)
  if (contest.status === 'upcoming') return upcoming(verdict)
  if (contest.status === 'running') return running(verdict)
  return hasPrizes(ledger) ? won(verdict) : withoutPrizes(verdict)
}

const UNEQUAL: Words = {
  say: html`The sums do not agree`,
  lead: html`The lines of this ledger do not add up to its totals. Both sums are below, side by side.`,
}

function upcoming({ ledger: { contest }, view }: Verdict): Words {
  const isLate = contest.opensAtMs <= view.now
  return {
    say: html`${isLate ? 'Was to open' : 'Opens'}
      <span data-at="/contest/opensAt">${clockMoment(contest.opensAt, view)}</span
      >${away('opensAt', contest.opensAt, view)}`,
    lead:
      contest.closesAt === null
        ? html`No end is announced.`
        : html`It is planned to close
            <span data-at="/contest/closesAt">${clockMoment(contest.closesAt, view)}</span>.`,
  }
}

/** Contest that takes plays. It may pay prizes already, such as one a day. */
function running(verdict: Verdict): Words {
  const { ledger, view } = verdict
  const { contest } = ledger
  return {
    say: runsUntil(contest, view),
    lead: html`<span data-at="/pool/balance">${amountHtml(ledger.pool.balance)}</span> ${view.site.token} are
      in the pool now. ${hasPrizes(ledger) ? wonSoFar(verdict, 'were won so far') : 'No prize is won yet.'}`,
    ...(view.past ? {} : { bar: runningBar(contest, view) }),
  }
}

function runsUntil(contest: ContestLedger['contest'], view: View): Html {
  const { closesAt, closesAtMs, openedAt, opensAt } = contest
  if (closesAt === null || closesAtMs === null) {
    const field = openedAt === null ? 'opensAt' : 'openedAt'
    return html`Runs since <span data-at="/contest/${field}">${clockMoment(openedAt ?? opensAt, view)}</span>,
      ${NO_END}`
  }
  return html`${closesAtMs <= view.now ? 'Was to close' : 'Runs until'}
    <span data-at="/contest/closesAt">${clockMoment(closesAt, view)}</span
    >${away('closesAt', closesAt, view)}`
}

/** Time until a planned moment, or since it, after a comma; null in a past view. */
function away(field: 'opensAt' | 'closesAt', at: string, view: View): Html | null {
  const until = untilMoment(at, view)
  return until === null ? null : html`, <span data-at="/contest/${field}">${until}</span>`
}

/** Bar of the elapsed time of a running contest, and its ends; null without an announced end. */
function runningBar(contest: ContestLedger['contest'], view: View): Html | null {
  const { openedAt, opensAt, closesAt } = contest
  const bar = elapsedBar(contest, view)
  if (bar === null || closesAt === null) return null
  return html`${bar}
    <p class="ends quiet">
      <span data-at="/contest/${openedAt === null ? 'opensAt' : 'openedAt'}"
        >${nearMoment(openedAt ?? opensAt, view)}</span
      >
      <span data-at="/contest/closesAt">${nearMoment(closesAt, view)}</span>
    </p>`
}

/** Sentences about the prizes of a contest that still runs or was cancelled. */
function wonSoFar(verdict: Verdict, wereWon: string): Html {
  const { ledger, view } = verdict
  const { contest, prizes } = ledger
  const { token } = view.site
  const sums = prizes.map(({ notRedeemed }) => notRedeemed)
  if (sums.some((sum) => sum.startsWith('-'))) {
    return html`${isOverpaid(prizes) ? 'More was paid than was won' : 'More has expired than was left to pay'},
    because a prize was corrected afterwards. ${waits(verdict)}`
  }
  const owed = html`<span data-at="/contest/prizesOwed">${amountHtml(contest.prizesOwed)}</span> ${token}
    ${wereWon}`
  if (sums.some((sum) => !isZero(sum))) {
    const open = html`<span data-at="/contest/prizesNotRedeemed"
      >${amountHtml(contest.prizesNotRedeemed)}</span
    >`
    return html`${owed}, of which ${open} ${token} are unpaid. ${waits(verdict)}`
  }
  if (isZero(contest.prizesExpired)) return html`${owed}, and all of it is paid.`
  return html`${owed}:
    <span data-at="/contest/prizesRedeemed">${amountHtml(contest.prizesRedeemed)}</span> ${token} were paid,
    and <span data-at="/contest/prizesExpired">${amountHtml(contest.prizesExpired)}</span> ${token} were never
    claimed.`
}

function cancelled(verdict: Verdict): Words {
  const { ledger, view } = verdict
  const { pool } = ledger
  const { site } = view
  const { refund = null } = pool.out
  const given =
    refund === null || isZero(refund)
      ? notGiven(pool)
      : html`<span data-at="/pool/out/refund">${amountHtml(refund)}</span> ${site.token} went back to players.`
  const rest = isPositive(pool.balance)
    ? html` <span data-at="/pool/balance">${amountHtml(pool.balance)}</span> ${site.token} are still in the
        pool.`
    : null
  if (!hasPrizes(ledger)) return { say: html`Cancelled`, lead: html`${given}${rest}` }
  return {
    say: html`Cancelled`,
    lead: html`${given}${rest} ${wonSoFar(verdict, 'were won before')}`,
    bar: segments(verdict),
  }
}

/** Sentence about the pool of a cancelled contest that paid players nothing. Plays go to the treasury. */
function notGiven(pool: ContestLedger['pool']): string {
  if (isPositive(pool.balance)) return 'Nothing has been given back yet.'
  return Object.values(pool.in).every(isZero)
    ? 'Nothing was in its pool, and nobody won a prize.'
    : 'Nothing is left in its pool, and nothing was given back to players.'
}

/** Contest with prizes: paid in whole, in part or too much, or with too much expired. */
function won(verdict: Verdict): Words {
  const { ledger } = verdict
  const { contest, prizes } = ledger
  const bar = segments(verdict)
  if (prizes.some(({ notRedeemed }) => notRedeemed.startsWith('-'))) {
    const rest = prizes.some(({ notRedeemed }) => isPositive(notRedeemed)) ? waits(verdict) : null
    const [say, end] = isOverpaid(prizes)
      ? ['More was paid than was won', 'it was paid']
      : ['More has expired than was left to pay', 'its expiry']
    return { say: html`${say}`, lead: html`A prize was corrected after ${end}. ${rest}`, bar }
  }
  if (prizes.some(({ notRedeemed }) => !isZero(notRedeemed))) {
    const share = wholePercentOf(
      { figure: contest.prizesRedeemed, pointer: '/contest/prizesRedeemed' },
      { figure: contest.prizesOwed, pointer: '/contest/prizesOwed' },
    )
    const verb = isZero(contest.prizesRedeemed) ? 'is paid yet' : 'is paid'
    return { say: html`${share} ${verb}`, lead: html`${waits(verdict)}${correctedOf(ledger)}`, bar }
  }
  return { ...settled(verdict), bar }
}

/** Contest with nothing open: all prizes are paid, or a part has expired. */
function settled({ ledger, view }: Verdict): Words {
  const { contest, pool } = ledger
  const { site } = view
  const corrected = correctedOf(ledger)
  const since =
    contest.paidAt === null
      ? null
      : html` The contest was settled
          <span data-at="/contest/paidAt">${nearMoment(contest.paidAt, view)}</span>.`
  const rest =
    contest.status === 'paying' && isPositive(pool.balance)
      ? html` <span data-at="/pool/balance">${amountHtml(pool.balance)}</span> ${site.token} are still in the
          pool.`
      : null
  if (isZero(contest.prizesExpired)) {
    return {
      say: expressed('all-paid /prizes/*/notRedeemed /prizes/*/expired', 'All paid'),
      lead: html`All
        <span data-at="/contest/prizesOwed">${amountHtml(contest.prizesOwed)}</span> ${site.token} that were
        won have been paid.${since}${rest}${corrected}`,
    }
  }
  return {
    say: expressed('none-open /prizes/*/notRedeemed', 'Nothing is left to pay'),
    lead: html`<span data-at="/contest/prizesRedeemed">${amountHtml(contest.prizesRedeemed)}</span>
      ${site.token} were paid, and
      <span data-at="/contest/prizesExpired">${amountHtml(contest.prizesExpired)}</span> ${site.token} were
      never claimed.${since}${rest}${corrected}`,
  }
}

function withoutPrizes({ ledger, view: { site } }: Verdict): Words {
  const { pool, prizes } = ledger
  const { refund = null } = pool.out
  // The prizes were zero from the start, or a correction cancelled them. The answer does not tell which.
  const isEmpty = prizes.length > 0
  const refunded =
    refund === null || isZero(refund)
      ? null
      : html`<span data-at="/pool/out/refund">${amountHtml(refund)}</span> ${site.token} were given back to
          players.`
  if (!mayYetPay(ledger)) {
    return {
      say: html`No prize was won`,
      lead:
        refunded ??
        html`${isEmpty ? 'Its prizes add up to zero' : 'The contest is over'}, and nothing is left to pay.`,
    }
  }
  return {
    say: html`No prize is won yet`,
    lead: html`${
        isEmpty
          ? 'The contest has closed. Its prizes add up to zero, and others are still to be published.'
          : 'The contest has closed, and its prizes are still to be published.'
      } <span data-at="/pool/balance">${amountHtml(pool.balance)}</span> ${site.token} are in its pool.
      ${refunded}`,
  }
}

/** Whether a closed contest without prizes may still publish some, because its pool is not empty. */
function mayYetPay({ contest, pool }: Pick<ContestLedger, 'contest' | 'pool'>): boolean {
  return contest.status === 'paying' && contest.outcome === null && isPositive(pool.balance)
}

const STATES = ['in_review', 'locked', 'payable', 'awaiting_claim'] as const

/** Sentence for each state of waiting prizes: until when, and whose they are. Null if nothing is open. */
function waits({ unpaid, view }: Verdict): Html | null {
  if (unpaid === null) return null
  const { address, answer } = unpaid
  if (answer.next !== null) return waitingTotals(unpaid, view.site.token)
  const rows = answer.unpaid.map((one, index) => ({ one, pointer: `${address}#/unpaid/${index}` }))
  const sentences = STATES.map((state) => {
    const here = rows.filter(({ one }) => one.status === state)
    return here.length === 0 ? null : html`${waitingSentence(state, here, view)} `
  })
  return html`${sentences}`
}

type Row = Readonly<{ one: Unpaid; pointer: string }>

/** `In review until 3 Oct 12:00 UTC: the winner.` */
function waitingSentence(state: (typeof STATES)[number], rows: readonly Row[], view: View): Html {
  const kinds = [...new Map(rows.map((row) => [row.one.kind, row])).values()]
  const last = rows.reduce((latest, row) => (row.one.availableAtMs > latest.one.availableAtMs ? row : latest))
  const isOneMoment = rows.every(({ one }) => one.availableAtMs === last.one.availableAtMs)
  const until = waitsForDate(last.one)
    ? html` until <b>${clockMoment(last.one.availableAt, view)}</b>${isOneMoment ? null : ' at the latest'}`
    : null
  const pointers = [
    `${last.pointer}/status`,
    ...(until === null ? [] : [`${last.pointer}/availableAt`]),
    ...kinds.map(({ pointer }) => `${pointer}/kind`),
  ]
  const words = state === 'payable' ? 'can be paid now' : stateWords(state)
  return html`<span data-at="${pointers.join(' ')}"
    >${stateInWords(state, capitalized(words))}${until}:
    ${listed(kinds.map(({ one }) => whoWins(one.kind)))}.</span
  >`
}

/** Sentence about corrected payments; null if none was corrected. */
function correctedOf({ payouts }: ContestLedger): Html | null {
  const { length } = payouts.filter(({ type }) => type === 'correction')
  if (length === 0) return null
  const said = length === 1 ? 'A payment was corrected: both' : 'Payments were corrected: all'
  return html` ${said} lines are <a href="#payments">among the payments</a>.`
}

const TOTALS = [
  ['payable', 'payable'],
  ['awaiting_claim', 'claim'],
  ['in_review', 'review'],
  ['locked', 'locked'],
] as const

/** Bar of all prizes: paid, payable, to be claimed, in review, locked and expired. */
function segments({ ledger: { contest }, unpaid }: Verdict): Html {
  const { prizesOwed, prizesRedeemed, prizesExpired } = contest
  const parts: Segment[] = [
    {
      as: 'paid',
      share: partOf(prizesRedeemed, prizesOwed),
      word: 'Paid',
      amount: amountHtml(prizesRedeemed),
      at: '/contest/prizesRedeemed',
    },
  ]
  for (const [state, as] of unpaid === null ? [] : TOTALS) {
    const amount = unpaid?.answer.totals[state] ?? ''
    if (!isPositive(amount)) continue
    parts.push({
      as,
      share: partOf(amount, prizesOwed),
      word: stateInWords(state, capitalized(stateWords(state))),
      amount: amountHtml(amount),
      at: `${unpaid?.address ?? ''}#/totals/${state}`,
    })
  }
  if (isPositive(prizesExpired)) {
    parts.push({
      as: 'expired',
      share: partOf(prizesExpired, prizesOwed),
      word: 'Never claimed',
      amount: amountHtml(prizesExpired),
      at: '/contest/prizesExpired',
    })
  }
  return segmentBar(parts.filter(({ share }) => share > 0))
}

/** Sums with and without a future date, from the totals of all rows. */
function waitingTotals({ answer: { totals }, address }: LinkedAnswer<Payouts>, token: string): Html | null {
  const of = (...states: readonly UnpaidStatus[]): Derived | null =>
    derivedSum(states.map((state) => ({ pointer: `${address}#/totals/${state}`, figure: totals[state] })))
  const [dated, free] = [of('locked', 'in_review'), of('awaiting_claim', 'payable')]
  if (dated === null || free === null) return null
  if (!isPositive(dated.figure)) return html`All that is unpaid can be paid now.`
  const rest = isPositive(free.figure) ? html`, and ${derived(free)} ${token} can be paid now` : null
  return html`${derived(dated)} ${token} wait for a date${rest}.`
}
