import { billionths, formatPrice, trillionths } from '../src/protocol/amount.ts'
import { HOUR_MS, MINUTE_MS } from '../src/protocol/moment.ts'
import { cancelDraft, amountAbout, type SimWorld } from './platform.ts'

/** Token market, for the other parts of the simulation. */
export type Market = Readonly<{
  /** Trillionths of a US dollar per token. */
  price(): bigint
}>

/** 4.2 US cents. */
const FIRST_PRICE = 42_137_500_000n
const PRICE_EVERY_MS = 30 * MINUTE_MS
const PRICE_EVERY_MS_MAX = 6 * HOUR_MS
const TRADE_EVERY_MS = 21 * MINUTE_MS
/** Factor by which quotes and trades are faster in live time. */
const LIVE_PACE = 8
/** Step of the random walk in millionths of the price, and the divisor of its pull towards the first price. */
const STEP_MILLIONTHS = 5200
const PULL = 400n

/** Starts the random walk of the price, and the trades. */
export function beginMarket(world: SimWorld): Market {
  const market = { price: FIRST_PRICE }
  const quote = (): void => {
    publishPrice(world, market)
    const every = Math.min(PRICE_EVERY_MS / world.plan.scale, PRICE_EVERY_MS_MAX)
    world.afterPaced(every * (0.9 + world.random.next() * 0.2), LIVE_PACE, quote)
  }
  const trade = (): void => {
    publishTrade(world)
    const every = TRADE_EVERY_MS / (world.plan.scale * world.pace())
    world.afterPaced(world.random.exponential(every), LIVE_PACE, trade)
  }
  world.at(world.now(), quote)
  world.after(PRICE_EVERY_MS, trade)
  return { price: () => market.price }
}

function publishPrice(world: SimWorld, market: { price: bigint }): void {
  const step = BigInt(Math.round(world.random.normal() * STEP_MILLIONTHS))
  const pull = (FIRST_PRICE - market.price) / PULL
  market.price = market.price + (market.price * step) / 1_000_000n + pull
  const wrong = world.random.chance(0.0016)
  // A wrong factor, as when a feed changes its unit. It is corrected within the hour.
  const quoted = wrong ? market.price / 10n : market.price
  const number = publishQuote(world, quoted)
  if (!wrong) return
  world.after(world.random.between(4, 25) * MINUTE_MS, () => {
    cancelDraft(world, number, { type: 'price', kind: 'usd' }, 'The price feed slipped a digit')
    publishQuote(world, market.price, number)
  })
}

function publishQuote(world: SimWorld, price: bigint, restates?: number): number {
  const details = { price: formatPrice(trillionths(price)), ...(restates === undefined ? {} : { restates }) }
  return world.publish({ type: 'price', kind: 'usd', details })
}

function publishTrade(world: SimWorld): void {
  const kind = world.random.chance(0.54) ? 'buy' : 'sell'
  const kots = billionths(amountAbout(world.random, 620, 1.1))
  const number = world.publish({ type: 'trade', kind, kots, paid: true })
  if (!world.random.chance(0.0012)) return
  world.after(world.random.between(3, 60) * MINUTE_MS, () =>
    cancelDraft(world, number, { type: 'trade', kind, kots }, 'The same trade was counted twice'),
  )
}
