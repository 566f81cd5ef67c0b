import {
  DAY_MS,
  formatAt,
  HOUR_MS,
  MINUTE_MS,
  type Month,
  monthOf,
  monthStart,
  msOf,
  nextMonth,
} from '../src/protocol/moment.ts'
import { type SimWorld, portionOf, split } from './platform.ts'

/** Percentage of the fund that is paid each month; the rest stays for the next. */
const PAID_PERCENT = 92
const PAYOUTS_MAX = 400

/**
 * Starts the monthly loyalty reward: planned at the start of a month, with input, output and payouts in the next month.
 */
export function beginLoyalty(world: SimWorld): void {
  const cycle = (month: Month): void => {
    const start = monthStart(month)
    const end = monthStart(nextMonth(month))
    const paysAt = end + 4 * DAY_MS + 15 * HOUR_MS
    // The first month is planned late, so the history has a schedule without a payment.
    const announcedAt = world.now() > start ? start + 23 * DAY_MS + 10 * HOUR_MS : start + 10 * HOUR_MS
    world.at(announcedAt, () => {
      const details = { month, paysAt: formatAt(msOf(paysAt)) }
      world.publish({ type: 'loyalty', kind: 'scheduled', details })
    })
    world.at(end + 3 * HOUR_MS, () =>
      world.publish({ type: 'loyalty', kind: 'input', details: file(world, month, 'input') }),
    )
    world.at(end + 2 * DAY_MS + 11 * HOUR_MS, () => reward(world, month, paysAt))
    world.at(end, () => cycle(nextMonth(month)))
  }
  cycle(monthOf(world.now()))
}

function reward(world: SimWorld, month: Month, paysAt: number): void {
  const total = portionOf(world.ledger.balance('loyalty'), PAID_PERCENT)
  if (total === 0n) return
  const recipients = world.random.between(900, 4200)
  const details = { ...file(world, month, 'output'), recipients }
  world.publish({ type: 'loyalty', kind: 'output', kots: total, details })
  const count = Math.min(PAYOUTS_MAX, Math.max(3, Math.round(14 * world.plan.scale)))
  split(world.random, total, count).forEach((kots, index) => {
    const when = paysAt + (index * 11 + world.random.between(0, 9)) * MINUTE_MS
    world.at(when, () =>
      world.publish({ type: 'payout', kind: 'loyalty', kots, paid: true, details: { month } }),
    )
  })
}

/** Details of an invented file of a run. The log needs only its digest. */
function file(world: SimWorld, month: Month, half: 'input' | 'output'): Record<string, string | number> {
  const digest = Array.from(world.random.bytes(32), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return {
    month,
    digest: `sha256:${digest}`,
    bytes: world.random.between(60_000, 900_000),
    url: `https://platform.example/loyalty/${month}/${half}.jsonl`,
  }
}
