import { ZERO } from '../../protocol/amount.ts'
import { unreachable } from '../../protocol/brand.ts'
import type { ContestStatus } from '../../protocol/enumerations.ts'
import { ruleKind } from '../../protocol/rules.ts'
import type { Effect } from './ledger.ts'
import type { Tally } from './tally.ts'

/** Change of a contest's status; `from` is undefined for a new contest. */
export type ContestMove = Readonly<{ from: ContestStatus | undefined; to: ContestStatus }>

/** Counts an effect in the figures that are not account balances. */
export function countFigures(tally: Tally, effect: Effect): void {
  const { type, kind } = effect.cause.event
  const amount = effect.entry.event.kots ?? ZERO
  const { figures } = tally
  switch (type) {
    case 'play': {
      const plays = BigInt(effect.sign * (effect.cause.details?.count ?? 1))
      figures.plays += plays
      if (kind === 'entry') figures.entries += plays
      figures.spentOnPlay += amount
      tally.spentByKind.set(kind, (tally.spentByKind.get(kind) ?? 0n) + amount)
      return
    }
    case 'payout':
      figures.payouts += BigInt(effect.sign)
      switch (ruleKind(type, kind)) {
        case 'loyalty':
          figures.paidInLoyalty += amount
          return
        case '*':
          figures.paidInPrizes += amount
          return
        case 'refund':
          return
      }
      return
    case 'contest':
    case 'pool':
    case 'prize':
    case 'hold':
    case 'expiry':
    case 'burn':
    case 'loyalty':
    case 'treasury':
    case 'price':
    case 'trade':
    case 'correction':
      return
    default:
      return unreachable(type)
  }
}

/** Updates the counts of contests by status. */
export function countContest(tally: Tally, move: ContestMove): void {
  if (move.from !== undefined) tally.figures[move.from] -= 1n
  tally.figures[move.to] += 1n
}
