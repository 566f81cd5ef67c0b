import { add, type Amount, ZERO } from '../../protocol/amount.ts'
import type { DaybookEvent, Entry } from '../../protocol/event.ts'
import { CONTEST_STATUSES, type ContestStatus } from '../../protocol/enumerations.ts'
import { type AccountName, ruleKind, ruleOf } from '../../protocol/rules.ts'
import { type ContestState, NO_PRIZE, poolBalance, type PrizeSums, unpaidOfKind } from './contest.ts'
import type { Figure, KindFigure, Tally } from './tally.ts'
import { unreachable } from '../../protocol/brand.ts'

/** One amount, credited by the account `from` and debited to the account `to`. */
type Posting = Readonly<{ from: AccountName; to: AccountName; amount: Amount }>

/**
 * Effect of an entry on the figures. The cause of an ordinary event is the event itself. The cause of a correction is
 * the corrected event, whose effect is reversed at the correction's own moment.
 */
export type Effect = Readonly<{ entry: Entry; cause: Entry; sign: 1 | -1 }>

/** Effect of an entry; `corrected` is the entry that a correction cancels, undefined for any other type. */
export function effectOf(entry: Entry, corrected: Entry | undefined): Effect {
  if (entry.event.type !== 'correction') return { entry, cause: entry, sign: 1 }
  if (corrected === undefined)
    throw new Error(`correction ${entry.event.seq} cancels an event that does not exist`)
  return { entry, cause: corrected, sign: -1 }
}

/** Posting of an effect; undefined when nothing moves (trades, prices, plans, events without an amount). */
export function postingOf(effect: Effect): Posting | undefined {
  const { type, kind } = effect.cause.event
  const accounts = ruleOf(type, kind)?.posting
  const amount = effect.entry.event.kots
  return accounts === undefined || amount === null ? undefined : { ...accounts, amount }
}

/** Figure with an account's balance, summed over contests and kinds. */
const FIGURE_OF_ACCOUNT: Readonly<Record<AccountName, Figure>> = {
  treasury: 'treasury',
  pool: 'runningPools',
  unredeemed: 'prizesNotRedeemed',
  loyalty: 'loyaltyFund',
  players: 'players',
  burned: 'burned',
  world: 'world',
}

/** Sum of all accounts in billionths, which is zero in a correct ledger. */
export function sumOfAccounts({ figures }: Tally): bigint {
  return Object.values(FIGURE_OF_ACCOUNT).reduce((sum, figure) => sum + figures[figure], 0n)
}

/** Number of contests, of all states. */
export function contestsOf({ figures }: Tally): bigint {
  return CONTEST_STATUSES.reduce((sum, status) => sum + figures[status], 0n)
}

/** Whether an account is inside the platform, so that its balance is never negative. */
export function isInside(account: AccountName): boolean {
  switch (account) {
    case 'treasury':
    case 'pool':
    case 'unredeemed':
    case 'loyalty':
      return true
    case 'players':
    case 'burned':
    case 'world':
      return false
  }
}

/** Name of an account as in the specification: `treasury`, `pool:42`, `unredeemed:42:winner`. */
export function accountLabel(account: AccountName, event: Pick<DaybookEvent, 'contestId' | 'kind'>): string {
  if (account === 'pool') return `pool:${event.contestId}`
  if (account === 'unredeemed') return `unredeemed:${event.contestId}:${event.kind}`
  return account
}

/** Balance of the account that an event of this contest and kind would change. */
export function balanceOf(
  account: AccountName,
  tally: Tally,
  contest: ContestState | undefined,
  kind: string,
): bigint {
  if (account === 'pool') return contest === undefined ? 0n : poolBalance(contest)
  if (account === 'unredeemed') return contest === undefined ? 0n : unpaidOfKind(contest, kind)
  return tally.figures[FIGURE_OF_ACCOUNT[account]]
}

/** Applies a posting to the accounts of the tally. */
export function post(tally: Tally, posting: Posting): void {
  tally.figures[FIGURE_OF_ACCOUNT[posting.from]] -= posting.amount
  tally.figures[FIGURE_OF_ACCOUNT[posting.to]] += posting.amount
}

/** Applies an effect to its contest: pool, owed, paid and expired prizes, and spending on play. */
export function postToContest(contest: ContestState, effect: Effect): ContestState {
  const { type, kind } = effect.cause.event
  const amount = effect.entry.event.kots
  if (amount === null) return contest
  switch (type) {
    case 'play': {
      const plays = playsOf(effect)
      return {
        ...contest,
        plays: contest.plays + plays,
        entries: kind === 'entry' ? contest.entries + plays : contest.entries,
        spentOnPlay: add(contest.spentOnPlay, amount),
      }
    }
    case 'pool':
      switch (ruleKind(type, kind)) {
        case 'returned':
          return { ...contest, poolOut: added(contest.poolOut, kind, amount) }
        case 'sponsor':
        case '*':
          return { ...contest, poolIn: added(contest.poolIn, kind, amount) }
      }
    case 'prize':
      return {
        ...postToPrize(contest, kind, 'owed', amount),
        poolOut: added(contest.poolOut, kind, amount),
      }
    case 'payout':
      switch (ruleKind(type, kind)) {
        case 'refund':
          return { ...contest, poolOut: added(contest.poolOut, kind, amount) }
        case 'loyalty':
          // The loyalty fund pays this, without a contest.
          return contest
        case '*':
          return postToPrize(contest, kind, 'paid', amount)
      }
    case 'expiry':
      return postToPrize(contest, kind, 'expired', amount)
    case 'contest':
    case 'hold':
    case 'burn':
    case 'loyalty':
    case 'treasury':
    case 'price':
    case 'trade':
    case 'correction':
      return contest
  }
}

function postToPrize(
  contest: ContestState,
  kind: string,
  field: keyof PrizeSums,
  amount: Amount,
): ContestState {
  const prize = contest.prizes.get(kind) ?? NO_PRIZE
  const prizes = new Map(contest.prizes).set(kind, { ...prize, [field]: add(prize[field], amount) })
  return { ...contest, prizes }
}

function added(sums: ReadonlyMap<string, Amount>, kind: string, amount: Amount): ReadonlyMap<string, Amount> {
  return new Map(sums).set(kind, add(sums.get(kind) ?? ZERO, amount))
}

/** Change of a contest's status; `from` is undefined for a new contest. */
export type ContestMove = Readonly<{ from: ContestStatus | undefined; to: ContestStatus }>

/** Plays that an effect counts; negative for a correction. */
function playsOf({ sign, cause }: Effect): bigint {
  return BigInt(sign * (cause.details?.count ?? 1))
}

/** Counts an effect in the figures that are not account balances. */
export function countFigures(tally: Tally, effect: Effect): void {
  const { type, kind } = effect.cause.event
  const amount = effect.entry.event.kots ?? ZERO
  const { figures } = tally
  switch (type) {
    case 'play': {
      const plays = playsOf(effect)
      figures.plays += plays
      if (kind === 'entry') figures.entries += plays
      figures.spentOnPlay += amount
      countKind(tally, 'spentOnPlay', kind, amount)
      return
    }
    case 'pool':
      if (ruleKind(type, kind) === 'sponsor') figures.sponsored += amount
      return
    case 'payout':
      figures.payouts += BigInt(effect.sign)
      switch (ruleKind(type, kind)) {
        case 'loyalty':
          figures.paidInLoyalty += amount
          return
        case '*':
          figures.paidInPrizes += amount
          countKind(tally, 'paidInPrizes', kind, amount)
          return
        case 'refund':
          figures.refunded += amount
          return
      }
      return
    case 'expiry':
      figures.expired += amount
      return
    case 'burn':
      // The posting adds to `burned` itself, which is the balance of an account.
      countKind(tally, 'burned', kind, amount)
      return
    case 'treasury':
      if (ruleKind(type, kind) === 'deposit') figures.deposited += amount
      else figures.withdrawn += amount
      return
    case 'contest':
    case 'prize':
    case 'hold':
    case 'loyalty':
    case 'price':
    case 'trade':
    case 'correction':
      return
    default:
      return unreachable(type)
  }
}

function countKind(tally: Tally, figure: KindFigure, kind: string, amount: bigint): void {
  const sums = tally.byKind[figure]
  sums.set(kind, (sums.get(kind) ?? 0n) + amount)
}

/** Updates the counts of contests by status. */
export function countContest(tally: Tally, move: ContestMove): void {
  if (move.from !== undefined) tally.figures[move.from] -= 1n
  tally.figures[move.to] += 1n
}
