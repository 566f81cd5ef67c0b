import type { ContestLedger } from '../../protocol/resources.ts'
import { digitsOf } from './chart-scale.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'

const HEIGHT = 24
const CHAR_WIDTH = 7.2
const PADDING = 10
/** White on each of them is at least 6 to 1. */
const LABEL = '#14181f'
const PAID = '#0b6b3a'
const OPEN = '#8a4b00'

/** What of a contest's prizes is paid, as a picture of one line for other people's pages. */
export function badgeOf({ contest }: Pick<ContestLedger, 'contest'>): Html {
  const { id, prizesOwed, prizesRedeemed, prizesNotRedeemed } = contest
  const nothing = digitsOf(prizesOwed) === 0n
  const done = digitsOf(prizesNotRedeemed) === 0n
  const said = nothing ? 'nothing won yet' : `paid ${partOf(prizesRedeemed, prizesOwed, done)}`
  const label = `contest ${id}`
  const [left, right] = [label, said].map((text) => Math.ceil(text.length * CHAR_WIDTH + 2 * PADDING))
  const [from = 0, rest = 0] = [left, right]
  const title = `Contest ${id}: ${nothing ? said : `paid ${prizesRedeemed} of ${prizesOwed}`}`
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
    <g fill="#fff" font-family="system-ui,sans-serif" font-size="13" text-anchor="middle">
      <text x="${from / 2}" y="16">${label}</text>
      <text x="${from + rest / 2}" y="16">${said}</text>
    </g>
  </svg>`
}

/** Whole units, cut off; every digit where cutting would make an open prize look paid. */
function partOf(redeemed: string, owed: string, done: boolean): string {
  const [paid, all] = [redeemed, owed].map(wholeOf)
  return !done && paid === all ? `${redeemed} / ${owed}` : `${paid} / ${all}`
}

function wholeOf(amount: string): string {
  const [whole = '0'] = amount.split('.')
  return whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}
