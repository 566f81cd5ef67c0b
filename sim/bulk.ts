import { billionths, formatAmount } from '../src/protocol/amount.ts'
import { formatAt, MINUTE_MS, type Ms, msOf } from '../src/protocol/moment.ts'
import { TOKEN } from './platform.ts'
import { type Random, randomOf } from './random.ts'

type BulkSettings = Readonly<{
  seed: string
  /** Spread over `[from, to)`. */
  from: Ms
  to: Ms
  /** Exact number of drafts. */
  count: number
}>

/** Drafts in a row within a minute, before a pause. */
const BURST = 24
const BURST_MS_MAX = 50_000
/** Drafts from one contest's opening to its close. */
const CONTEST_DRAFTS_MIN = 60
const CONTEST_DRAFTS_MAX = 20_000
const CONTESTS_PER_RUN = 12

/** Distances between the other events of a contest, counted in its drafts. */
const SHARE_EVERY = 50
const PRICE_EVERY = 97
const BURN_EVERY = 499
const PAYOUT_EVERY = 12
/** Drafts for each payout. It exceeds `PAYOUT_EVERY`, so that all payouts fit before the next contest closes. */
const DRAFTS_PER_PAYOUT = 15

const KINDS = ['vote', 'entry', 'boost', 'vote'] as const
const FIRST_DEPOSIT = 100_000n * TOKEN
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** State: the running contest and the paying one. Earlier contests are dropped. */
type Bulk = {
  readonly random: Random
  treasury: bigint
  id: number
  pool: bigint
  /** Amount spent on play since the last share for the pool. */
  spent: bigint
  paying: { readonly id: number; readonly part: bigint; left: bigint; readonly rest: bigint } | null
}

/**
 * Lines of an import file without line feeds, for load tests: mostly plays, some payouts, shares and prices, valid
 * under the rules. Makes several hundred thousand lines a second in constant memory. `history` has realistic data.
 */
export function* bulkLines(settings: BulkSettings): Generator<string, undefined> {
  const { from, to, count, seed } = settings
  const everyMs = (to - from) / count
  const burstMs = everyMs * BURST
  const stepMs = Math.floor(Math.min(burstMs, BURST_MS_MAX) / BURST)
  const state: Bulk = { random: randomOf(seed), treasury: 0n, id: 0, pool: 0n, spent: 0n, paying: null }
  let number = 0
  for (const body of lineBodies(state, from, everyMs, count)) {
    if (number === count) return undefined
    const ms = Math.floor(from + Math.floor(number / BURST) * burstMs) + (number % BURST) * stepMs
    yield `{"ref":"bulk-${++number}","at":"${formatAt(msOf(ms))}",${body}}`
  }
  return undefined
}

/** Endless lines without ref and moment. */
function* lineBodies(state: Bulk, from: Ms, everyMs: number, count: number): Generator<string, undefined> {
  const plays = Math.floor(count / CONTESTS_PER_RUN)
  const length = Math.min(CONTEST_DRAFTS_MAX, Math.max(CONTEST_DRAFTS_MIN, plays))
  state.treasury += FIRST_DEPOSIT
  yield `"type":"treasury","kind":"deposit","kots":"${amount(FIRST_DEPOSIT)}"`
  for (;;) {
    const id = ++state.id
    const opensMs = from + (id - 1) * length * everyMs
    const times = `"opensAt":"${isoOf(opensMs)}","closesAt":"${isoOf(opensMs + length * everyMs + MINUTE_MS)}"`
    yield contest(id, 'scheduled', `,"details":{"title":"Round ${id}",${times}}`)
    yield contest(id, 'opened')
    for (let index = 1; index <= length; index++) yield running(state, index)
    yield* paid(state)
    yield contest(id, 'closed')
    yield* awarded(state, Math.floor(length / DRAFTS_PER_PAYOUT))
  }
}

function running(state: Bulk, index: number): string {
  const { id, random, paying } = state
  if (index % PAYOUT_EVERY === 0 && paying !== null && paying.left > 0n)
    return payout(random, paying, paying.part)
  if (index % SHARE_EVERY === 0 && state.spent > 1n) return share(state)
  if (index % PRICE_EVERY === 0) {
    return `"type":"price","kind":"usd","details":{"price":"0.0${random.between(380, 460)}"}`
  }
  if (index % BURN_EVERY === 0) {
    const kots = state.treasury / 100n
    state.treasury -= kots
    return `"type":"burn","kind":"platform_income","kots":"${amount(kots)}"`
  }
  const kots = BigInt(random.between(1_000_000, 90_000_000)) * 1_111n + BigInt(index)
  state.treasury += kots
  state.spent += kots
  return `"type":"play","kind":"${random.pick(KINDS)}","contestId":${id},"kots":"${amount(kots)}"`
}

/** Share for the pool: half of the amount spent since the last share. */
function share(state: Bulk): string {
  const kots = state.spent / 2n
  state.spent = 0n
  state.treasury -= kots
  state.pool += kots
  return `"type":"pool","kind":"play_share","contestId":${state.id},"kots":"${amount(kots)}"`
}

/** End of the previous contest: its last payout, the return of the rest, and `paid`. */
function* paid(state: Bulk): Generator<string, undefined> {
  const { paying, random } = state
  if (paying === null) return undefined
  if (paying.left > 0n) yield payout(random, paying, paying.left)
  if (paying.rest > 0n) {
    state.treasury += paying.rest
    yield `"type":"pool","kind":"returned","contestId":${paying.id},"kots":"${amount(paying.rest)}"`
  }
  yield contest(paying.id, 'paid')
  return undefined
}

function* awarded(state: Bulk, payouts: number): Generator<string, undefined> {
  const won = (state.pool * 49n) / 50n
  const details = `"details":{"winners":${payouts}}`
  if (won > 0n)
    yield `"type":"prize","kind":"winner","contestId":${state.id},"kots":"${amount(won)}",${details}`
  // Rounded up, so that the last payout is the smallest and no remainder needs a further one.
  state.paying = { id: state.id, part: won / BigInt(payouts) + 1n, left: won, rest: state.pool - won }
  state.pool = 0n
  state.spent = 0n
  return undefined
}

function payout(random: Random, paying: NonNullable<Bulk['paying']>, asked: bigint): string {
  const kots = paying.left < asked ? paying.left : asked
  paying.left -= kots
  return `"type":"payout","kind":"winner","contestId":${paying.id},"kots":"${amount(kots)}","tx":"${cheapTx(random)}"`
}

function contest(id: number, kind: string, rest = ''): string {
  return `"type":"contest","kind":"${kind}","contestId":${id}${rest}`
}

/**
 * Random base58 text of 64 bytes, made without a division. With a first digit of 1 to 4, the value of 88 digits is
 * between 2^504 and 2^512.
 */
function cheapTx(random: Random): string {
  let tx = BASE58.charAt(random.between(1, 4))
  while (tx.length < 88) tx += BASE58.charAt(random.below(58))
  return tx
}

function amount(value: bigint): string {
  return formatAmount(billionths(value))
}

function isoOf(ms: number): string {
  return formatAt(msOf(Math.floor(ms)))
}
