import { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/protocol/moment.ts'
import { cancelDraft, type SimDraft, type SimWorld, TOKEN, amountAbout, portionOf } from './platform.ts'

/** First deposit of the treasury, and the balance below which it gets another. */
const FIRST_DEPOSIT = 2_400_000n * TOKEN
const LOW_WATER = 600_000n * TOKEN
/** Percentages of a day's income that are burned, and set aside for loyalty. */
const BURN_PERCENT = 12
const LOYALTY_PERCENT = 6
/** Costs of a month, as a percentage of the treasury. */
const COSTS_PERCENT = 4

/** Starts the treasury: a deposit, which is the very first draft, then daily burns and accruals. */
export function beginTreasury(world: SimWorld): void {
  world.at(world.now(), () =>
    world.publish({ type: 'treasury', kind: 'deposit', kots: FIRST_DEPOSIT, paid: true }),
  )
  let played = world.ledger.income()
  const day = (midnight: number): void => {
    world.at(midnight + 6 * MINUTE_MS, () => {
      const spent = world.ledger.income()
      closeDay(world, spent - played)
      // A correction can make the income of a day negative. The next days compensate for it first.
      if (spent > played) played = spent
      day(midnight + DAY_MS)
    })
  }
  day((Math.floor(world.now() / DAY_MS) + 1) * DAY_MS)
}

function closeDay(world: SimWorld, income: bigint): void {
  const burned = portionOf(income, BURN_PERCENT)
  if (burned > 0n && world.ledger.canPay('treasury', burned)) {
    world.after(40_000, () => burn(world, burned))
  }
  const accrued = portionOf(income, LOYALTY_PERCENT)
  if (accrued > 0n && world.ledger.canPay('treasury', accrued)) {
    world.publish({ type: 'loyalty', kind: 'accrual', kots: accrued })
  }
  const date = new Date(world.now()).getUTCDate()
  if (date === 10) withdraw(world)
  if (date === 20 || !world.ledger.canPay('treasury', LOW_WATER)) deposit(world)
}

function burn(world: SimWorld, kots: bigint): void {
  if (!world.ledger.canPay('treasury', kots)) return
  const wrong = world.random.chance(0.05)
  // A wrong total counts the burn twice, and is corrected hours later.
  const draft: SimDraft = {
    type: 'burn',
    kind: 'platform_income',
    kots: wrong ? kots * 2n : kots,
    paid: true,
  }
  if (!world.ledger.canPay('treasury', draft.kots ?? 0n)) return
  const number = world.publish(draft)
  if (!wrong) return
  world.after(world.random.between(1, 9) * HOUR_MS, () => {
    if (cancelDraft(world, number, draft, 'The burn was counted twice')) {
      world.publish({ ...draft, kots, details: { restates: number } })
    }
  })
}

function withdraw(world: SimWorld): void {
  const kots = portionOf(world.ledger.balance('treasury'), COSTS_PERCENT)
  const when = world.random.between(8, 15) * HOUR_MS
  world.after(when, () => {
    if (kots > 0n && world.ledger.canPay('treasury', kots)) {
      world.publish({ type: 'treasury', kind: 'withdrawal', kots, paid: true })
    }
  })
}

function deposit(world: SimWorld): void {
  const kots = amountAbout(world.random, 180_000, 0.3)
  world.after(world.random.between(8, 15) * HOUR_MS, () =>
    world.publish({ type: 'treasury', kind: 'deposit', kots, paid: true }),
  )
}
