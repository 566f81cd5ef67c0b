import { billionths, formatAmount } from '../../protocol/amount.ts'
import type { ContestLedger } from '../../protocol/resources.ts'
import { shortAmount } from '../markup/amount-html.ts'
import { digitsOf, grouped } from '../markup/chart-scale.ts'
import { type Html, html } from '../markup/html.ts'
import { openDigits } from '../pages/contests/contest-prizes.ts'
import { mayYetPay } from '../pages/contests/contest-verdict.ts'

const HEIGHT = 24
const CHAR_WIDTH = 7.2
const PADDING = 10
/** Colours with a contrast of at least 6 to 1 against white. */
const LABEL = '#17202b'
const PAID = '#1b6a45'
const OPEN = '#875100'

type BadgeLedger = Pick<ContestLedger, 'contest' | 'pool' | 'prizes'>

type BadgeLabel = Readonly<{ token: string; simulated: boolean }>

/** Badge of a contest as SVG: the paid part of its prizes, for embedding in other sites. */
export function badgeOf(ledger: BadgeLedger, { token, simulated }: BadgeLabel): Html {
  const { id, prizesOwed, prizesRedeemed, prizesExpired, outcome } = ledger.contest
  // Payments of a prize that a correction cancelled are left when nothing is owed.
  const nothing = outcome === 'cancelled' || (digitsOf(prizesOwed) === 0n && digitsOf(prizesRedeemed) === 0n)
  const { waits, over } = openDigits(ledger.prizes)
  const done = waits === 0n && over === 0n
  // An overpaid prize would fill up the paid part of the others.
  const unpaid = waits > 0n && over > 0n ? formatAmount(billionths(waits)) : null
  const expiredOf = (amount: string): string => (digitsOf(prizesExpired) === 0n ? '' : `, ${amount} expired`)
  const message = nothing
    ? unwon(ledger, token)
    : unpaid === null
      ? `paid ${partOf(prizesRedeemed, prizesOwed, done)} ${token}${expiredOf(shortAmount(prizesExpired))}`
      : `${shortAmount(unpaid)} ${token} unpaid`
  const label = `${simulated ? 'simulated ' : ''}contest ${id}`
  const [left, right] = [label, message].map((text) => Math.ceil(text.length * CHAR_WIDTH + 2 * PADDING))
  const [from = 0, rest = 0] = [left, right]
  const exact =
    unpaid === null
      ? `paid ${prizesRedeemed} of ${prizesOwed} ${token}${expiredOf(prizesExpired)}`
      : `${unpaid} ${token} unpaid`
  const title = `${simulated ? 'Simulated contest' : 'Contest'} ${id}: ${nothing ? message : exact}`
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="${from + rest}"
    height="${HEIGHT}"
    role="img"
    aria-label="${title}"
  >
    <title>${title}</title>
    <rect width="${from}" height="${HEIGHT}" fill="${LABEL}" />
    <rect
      x="${from}"
      width="${rest}"
      height="${HEIGHT}"
      fill="${done && !nothing ? PAID : nothing ? LABEL : OPEN}"
    />
    <rect x="${from}" width="1" height="${HEIGHT}" fill="#fff" />
    <g fill="#fff" font-family="system-ui,sans-serif" font-size="13" text-anchor="middle">
      <text x="${from / 2}" y="16">${label}</text>
      <text x="${from + rest / 2}" y="16">${message}</text>
    </g>
  </svg>`
}

/** Text of a contest without prizes, or a cancelled one. */
function unwon(ledger: BadgeLedger, token: string): string {
  const { contest, pool } = ledger
  if (contest.status === 'upcoming' || contest.status === 'running') return 'nothing won yet'
  const { refund = '0.000000000' } = pool.out
  if (digitsOf(refund) > 0n) return `${shortAmount(refund)} ${token} given back`
  if (contest.outcome === 'cancelled') return 'cancelled'
  return mayYetPay(ledger) ? 'nothing won yet' : 'nothing was won'
}

/** Paid and owed amounts in whole units; with every digit if cutting would hide an unpaid part. */
function partOf(redeemed: string, owed: string, done: boolean): string {
  const [paid, all] = [redeemed, owed].map(wholeOf)
  return !done && paid === all ? `${redeemed} / ${owed}` : `${paid} / ${all}`
}

function wholeOf(amount: string): string {
  const [whole = '0'] = amount.split('.')
  return grouped(whole)
}
