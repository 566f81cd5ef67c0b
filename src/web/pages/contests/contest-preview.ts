import {
  type ContestLedger,
  type ContestWire,
  type Payouts,
  type Unpaid,
  UNPAID_STATUSES,
  type UnpaidStatus,
} from '../../../protocol/resources.ts'
import { billionths, formatAmount } from '../../../protocol/amount.ts'
import { isPositive } from '../../markup/amount-html.ts'
import { digitsOf, grouped } from '../../markup/chart-scale.ts'
import { stateWords, waitsForDate } from '../../markup/kind-words.ts'
import { capitalized } from '../../markup/prose.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { View } from '../../frame/page.ts'
import type { PreviewCard, PreviewPart, PreviewSegment } from '../../preview/preview-card.ts'
import { drawableText, drawableToken } from '../../preview/preview-font.ts'
import { cutAmount, minuteText, winnersOf } from '../../preview/preview-words.ts'
import { isOverpaid, openDigits } from './contest-prizes.ts'
import { mayYetPay } from './contest-verdict.ts'

/** Open prizes that a sentence names; more of them are summed. */
const NAMED_MAX = 2

/** Link preview of a contest: the paid share of its prizes, and what waits. */
export async function contestPreview(ledger: ContestLedger, view: View): Promise<PreviewCard> {
  const { contest, asOf } = ledger
  const title = contest.title === null ? null : drawableText(contest.title)
  const card = {
    above: title,
    corner: `Contest ${grouped(String(contest.id))}`,
    state: asOf.at === null ? '' : minuteText(asOf.at),
  }
  // Payments of a corrected prize are left when nothing is owed.
  const isWon = isPositive(contest.prizesOwed) || openDigits(ledger.prizes).over > 0n
  return {
    ...card,
    ...(isWon && contest.outcome !== 'cancelled' ? await wonOf(ledger, view) : unwonOf(ledger, view)),
  }
}

type Words = Pick<PreviewCard, 'headline' | 'sentence' | 'part'>

/** Words for a contest without prizes, or a cancelled one, by its state. */
function unwonOf(ledger: ContestLedger, { site }: View): Words {
  const { contest, pool } = ledger
  const token = drawableToken(site)
  const part = playOf(contest, token)
  const refunded = pool.out['refund'] ?? '0.000000000'
  const given = isPositive(refunded) ? `${cutAmount(refunded)} ${token} went back to players.` : null
  if (contest.outcome === 'cancelled') return { headline: 'Cancelled', sentence: given, part }
  switch (contest.status) {
    case 'upcoming':
      return {
        headline: 'Not open yet',
        sentence: `Planned from ${minuteText(contest.opensAt)} to ${minuteText(contest.closesAt)}.`,
        part: isPositive(contest.pool)
          ? { is: 'figures', figures: [[`In the pool, ${token}`, cutAmount(contest.pool)]] }
          : { is: 'nothing' },
      }
    case 'running':
      return {
        headline: `${cutAmount(contest.pool)} ${token} in the pool`,
        sentence: `Running. It is planned to close ${minuteText(contest.closesAt)}.`,
        part,
      }
    case 'paying':
    case 'paid':
      return {
        headline: mayYetPay(ledger) ? 'No prize is won yet' : 'No prize was won',
        sentence: given,
        part,
      }
  }
}

function playOf({ entries, plays, spentOnPlay }: ContestWire, token: string): PreviewPart {
  return {
    is: 'figures',
    figures: [
      ['Entries', grouped(String(entries))],
      ['Plays', grouped(String(plays))],
      [`Spent on play, ${token}`, cutAmount(spentOnPlay)],
    ],
  }
}

/** Words for a contest with prizes. */
async function wonOf({ contest, prizes }: ContestLedger, view: View): Promise<Words> {
  const { prizesOwed, prizesRedeemed } = contest
  const token = drawableToken(view.site)
  const lapsed = digitsOf(contest.prizesExpired)
  const { waits, over } = openDigits(prizes)
  const open = waits > 0n ? await askOpen(contest, view) : null
  const part = barOf(contest, lapsed, open)
  if (over > 0n) {
    const more = `${cutDigits(over)} ${token} more are paid ${lapsed > 0n ? 'or expired ' : ''}than were won.`
    return {
      headline: isOverpaid(prizes) ? 'Overpaid' : 'Too much has expired',
      sentence: open === null ? more : `${more} ${cutDigits(waits)} ${token} of prizes still wait.`,
      part,
    }
  }
  if (open !== null) {
    return {
      headline: paidShare(prizesRedeemed, prizesOwed),
      sentence: waitingOf(open, contest, token),
      part,
    }
  }
  return {
    headline:
      lapsed > 0n
        ? 'Nothing is left to pay'
        : contest.outcome === 'paid'
          ? 'Paid in full'
          : 'All paid so far',
    sentence: `${cutAmount(prizesRedeemed)} of ${cutAmount(prizesOwed)} ${token} of prizes are paid${lapsed > 0n ? ', the rest has expired' : ''}.`,
    part,
  }
}

async function askOpen({ id }: ContestWire, view: View): Promise<Payouts> {
  return (await askEndpoint(view, 'payouts', { query: `contestId=${id}&limit=50` })).answer
}

/** Amount of digits, cut as in a headline. */
function cutDigits(digits: bigint): string {
  return cutAmount(formatAmount(billionths(digits)))
}

/** The paid share in whole per cent, cut. */
function paidShare(redeemed: string, owed: string): string {
  const percent = (digitsOf(redeemed) * 100n) / digitsOf(owed)
  if (digitsOf(redeemed) <= 0n) return 'Nothing is paid yet'
  return percent === 0n ? 'Less than 1 % is paid' : `${percent} % is paid`
}

/** Sentence of what waits: each open prize if there are few, else their sum. */
function waitingOf(
  { unpaid, next }: Payouts,
  { prizesNotRedeemed, prizesOwed }: ContestWire,
  token: string,
): string {
  if (next !== null || unpaid.length > NAMED_MAX) {
    return `${cutAmount(prizesNotRedeemed)} of ${cutAmount(prizesOwed)} ${token} of prizes still wait.`
  }
  return `Unpaid: ${unpaid.map((one) => prizeWords(one, token)).join('; ')}.`
}

function prizeWords(one: Unpaid, token: string): string {
  const { kind, kots, status, availableAt } = one
  const until = waitsForDate(one) ? ` until ${minuteText(availableAt)}` : ''
  return `${cutAmount(kots)} ${token} for ${winnersOf(kind)}, ${stateWords(status)}${until}`
}

const TONES: Readonly<Record<UnpaidStatus, PreviewSegment['tone']>> = {
  locked: 'still',
  in_review: 'hold',
  awaiting_claim: 'wait',
  payable: 'payable',
  overpaid: 'rule',
}

const SHARE_UNIT = 10_000n

/** The bar of a contest's prizes: paid, each state of what is open, and expired. */
function barOf(
  { prizesRedeemed, prizesOwed }: ContestWire,
  lapsed: bigint,
  open: Payouts | null,
): PreviewPart {
  const all = digitsOf(prizesOwed)
  const segment = (digits: bigint, tone: PreviewSegment['tone'], word: string): readonly PreviewSegment[] =>
    digits <= 0n
      ? []
      : [
          {
            share: Math.min(
              1,
              Number((digits * SHARE_UNIT) / (all > 0n ? all : digits)) / Number(SHARE_UNIT),
            ),
            tone,
            word,
            amount: cutDigits(digits),
          },
        ]
  const states = UNPAID_STATUSES.flatMap((state) =>
    segment(digitsOf(open?.totals[state] ?? '0.000000000'), TONES[state], capitalized(stateWords(state))),
  )
  return {
    is: 'bar',
    segments: [
      ...segment(digitsOf(prizesRedeemed), 'go', 'Paid'),
      ...states,
      ...segment(lapsed, 'hair', 'Expired'),
    ],
  }
}
