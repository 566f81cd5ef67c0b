import { formatAt, type Ms, msOf } from '../src/protocol/moment.ts'
import { type EventType, ruleOf } from '../src/protocol/rules.ts'
import { billionths, formatAmount } from '../src/protocol/amount.ts'
import { type DraftDetails, failingTxOf, type ImportDraft, refOf, txOf } from './import-draft.ts'
import { type Random, randomOf } from './random.ts'
import { busyness, growth } from './rhythm.ts'

/** Settings of a simulated platform. The same plan gives the same drafts. */
export type Plan = Readonly<{
  seed: string
  /** Moment of the first draft. */
  from: Ms
  /** Moment from which plays are published in small totals every few seconds, instead of large ones. */
  liveFrom: Ms
  /** Factor for the number of drafts: 1 gives about 60,000 in three months. */
  scale: number
  /** Live payouts for each one that fails on the chain and is sent again; none by default. */
  failedOneIn?: number
}>

/** Draft of a part of the simulation. The platform adds ref and moment, and posts the amount. */
export type SimDraft = Readonly<{
  type: EventType
  kind: string
  contestId?: number
  /** Billionths. */
  kots?: bigint
  /** Whether the draft names a transaction. A failing one posts nothing. */
  paid?: boolean | 'fails'
  details?: DraftDetails
}>

/** Simulated platform, for its parts (contests, market, treasury, loyalty). */
export type SimWorld = Readonly<{
  plan: Plan
  random: Random
  ledger: SimLedger
  now(): Ms
  /** Runs `act` at a moment; immediately if the moment has passed. */
  at(ms: number, act: () => void): void
  after(ms: number, act: () => void): void
  /** Like `after`; in live time the wait passes `livePace` times faster. */
  afterPaced(ms: number, livePace: number, act: () => void): void
  /** Publishes a draft now. Returns its number, which is its seq in a log without other events. */
  publish(draft: SimDraft): number
  /** Activity now as a multiple of an average hour at the start, without the scale of the plan. */
  pace(): number
  /** Whether plays are published in small totals. */
  isLive(): boolean
}>

/** One whole token, in billionths. */
export const TOKEN = 1_000_000_000n

/** Future action of the simulation. */
type Entry = Readonly<{ at: Ms; act: () => void }>

/** Endless drafts of a platform whose parts `begin` starts. Uses constant memory. */
export function* simulate(plan: Plan, begin: (world: SimWorld) => void): Generator<ImportDraft, undefined> {
  /** Future actions, the next one last. Equal moments keep the order in which they were added. */
  const agenda: Entry[] = []
  const random = randomOf(`${plan.seed}/${plan.from}/${plan.scale}`)
  const ledger = openSimLedger()
  const published: ImportDraft[] = []
  let now = plan.from
  let number = 0

  function at(ms: number, act: () => void): void {
    const moment = msOf(Math.max(now, Math.round(ms)))
    let [low, high] = [0, agenda.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((agenda[middle]?.at ?? 0) > moment) low = middle + 1
      else high = middle
    }
    agenda.splice(low, 0, { at: moment, act })
  }

  begin({
    plan,
    random,
    ledger,
    now: () => now,
    at,
    after: (ms, act) => at(now + ms, act),
    afterPaced(ms, livePace, act) {
      // A wait that ends in live time is shortened from its start on, so that live time does not begin with a pause.
      const slow = Math.min(ms, Math.max(0, plan.liveFrom - now))
      at(now + slow + (ms - slow) / livePace, act)
    },
    publish(draft) {
      post(ledger, draft)
      published.push(importDraftOf(++number, now, draft, random))
      return number
    },
    pace: () => busyness(now) * growth(now - plan.from),
    isLive: () => now >= plan.liveFrom,
  })
  for (let entry = agenda.pop(); entry !== undefined; entry = agenda.pop()) {
    now = entry.at
    entry.act()
    yield* published
    published.length = 0
  }
  return undefined
}

function importDraftOf(number: number, now: Ms, draft: SimDraft, random: Random): ImportDraft {
  const { type, kind, contestId, kots, paid, details } = draft
  return {
    ref: refOf(number),
    at: formatAt(now),
    type,
    kind,
    ...(contestId === undefined ? {} : { contestId }),
    ...(kots === undefined ? {} : { kots: formatAmount(billionths(kots)) }),
    ...(paid === true ? { tx: txOf(random) } : {}),
    ...(paid === 'fails' ? { tx: failingTxOf(random) } : {}),
    ...(details === undefined ? {} : { details }),
  }
}

/** Posts the amount of a draft to the ledger. `cancelDraft` posts that of a correction. */
function post(ledger: SimLedger, { type, kind, contestId, kots, paid }: SimDraft): void {
  if (kots === undefined || type === 'correction' || paid === 'fails') return
  const posting = ruleOf(type, kind)?.posting
  if (posting === undefined) return
  const account = (name: string): string => accountOf(name, contestId, kind)
  ledger.move(account(posting.from), account(posting.to), kots)
}

/**
 * Publishes a correction of the draft `number`, whose content was `wrong`. Returns false, without a correction, when an
 * account would be overdrawn. The caller publishes the replacement, with `restates`.
 */
export function cancelDraft(world: SimWorld, number: number, wrong: SimDraft, reason: string): boolean {
  const { type, kind, contestId, kots } = wrong
  const posting = ruleOf(type, kind)?.posting
  if (posting !== undefined && kots !== undefined) {
    const from = accountOf(posting.to, contestId, kind)
    if (!world.ledger.canPay(from, kots)) return false
    world.ledger.move(from, accountOf(posting.from, contestId, kind), kots)
  }
  world.publish({
    type: 'correction',
    kind: type,
    ...(contestId === undefined ? {} : { contestId }),
    ...(kots === undefined ? {} : { kots: -kots }),
    details: { corrects: number, reason },
  })
  return true
}

/** Name of an account. Each contest has a pool, and each contest and kind an unredeemed account. */
function accountOf(name: string, contestId: number | undefined, kind: string): string {
  if (name === 'pool') return `pool:${contestId}`
  return name === 'unredeemed' ? `unredeemed:${contestId}:${kind}` : name
}

/** Ledger of the simulator, in billionths. It prevents drafts that overdraw an account. */
type SimLedger = Readonly<{
  balance(account: string): bigint
  /** Moves an amount. Throws a `RangeError` when an account of the platform would be overdrawn. */
  move(from: string, to: string, amount: bigint): void
  /** Whether an account holds this amount; always true for accounts outside the platform. */
  canPay(account: string, amount: bigint): boolean
  /** Income of the platform: the amounts that players paid to the treasury, less corrections. */
  income(): bigint
}>

/** Accounts outside the platform, which have no limit. */
const OUTSIDE: ReadonlySet<string> = new Set(['players', 'world', 'burned'])

/** Opens an empty ledger. Accounts at zero are removed, so memory does not grow with the number of contests. */
function openSimLedger(): SimLedger {
  const balances = new Map<string, bigint>()
  let income = 0n
  const balance = (account: string): bigint => balances.get(account) ?? 0n
  const add = (account: string, amount: bigint): void => {
    const after = balance(account) + amount
    if (after === 0n) balances.delete(account)
    else balances.set(account, after)
  }
  const canPay = (account: string, amount: bigint): boolean =>
    OUTSIDE.has(account) || balance(account) >= amount
  return {
    balance,
    canPay,
    income: () => income,
    move(from, to, amount) {
      if (amount < 0n || !canPay(from, amount)) {
        throw new RangeError(`${from} holds ${balance(from)}, asked for ${amount}`)
      }
      add(from, -amount)
      add(to, amount)
      if (from === 'players' && to === 'treasury') income += amount
      if (from === 'treasury' && to === 'players') income -= amount
    },
  }
}

/** Random amount in billionths with nine significant decimals; `median` is in whole tokens. */
export function amountAbout(random: Random, median: number, sigma: number): bigint {
  const millionths = Math.max(1, Math.floor(random.lognormal(median, sigma) * 1e6))
  return BigInt(millionths) * 1000n + BigInt(random.below(1000))
}

/** Percentage of an amount, rounded down. */
export function portionOf(amount: bigint, percent: number): bigint {
  return (amount * BigInt(percent)) / 100n
}

/** Splits an amount into at most `count` unequal parts. None of them is zero, and their sum is the amount. */
export function split(random: Random, amount: bigint, count: number): readonly bigint[] {
  const shares = Array.from({ length: count }, () => BigInt(random.between(400, 1600)))
  const all = shares.reduce((sum, share) => sum + share, 0n)
  const parts: bigint[] = []
  let left = amount
  shares.forEach((share, index) => {
    const part = index === count - 1 ? left : (amount * share) / all
    if (part === 0n) return
    parts.push(part)
    left -= part
  })
  return parts
}
