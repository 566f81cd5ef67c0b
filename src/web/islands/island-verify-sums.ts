import { add, type Amount, formatAmount, parseAmount, ZERO } from '../../protocol/amount.ts'
import type { EventWire } from '../../protocol/event.ts'
import type { EventDetails } from '../../protocol/resources.ts'
import type { FlowFigures, Flows } from '../../protocol/figure-resources.ts'
import {
  type CheckSteps,
  failed,
  type Log,
  passed,
  servedText,
  type SignedCheckpoint,
} from './island-verify-log.ts'
import { provedEvent } from './island-verify-tree.ts'

type Figure = keyof FlowFigures

/** Sums of a month's events, changed in place by `addEvent`. */
type Sums = Record<Figure, Amount> & {
  /** Corrections of payouts. The corrected event tells whether it was a prize. */
  readonly corrections: { corrects: number; amount: Amount }[]
  /** Kind of each payout of the month, by seq. */
  readonly payouts: Map<number, string>
}

export function openSums(): Sums {
  return { spentOnPlay: ZERO, paidInPrizes: ZERO, burned: ZERO, corrections: [], payouts: new Map() }
}

const FIGURES: ReadonlyMap<string, Figure> = new Map([
  ['play', 'spentOnPlay'],
  ['payout', 'paidInPrizes'],
  ['burn', 'burned'],
])

/** Adds an event, with its details line. */
export function addEvent(sums: Sums, { seq, type, kind, kots }: EventWire, details: string | null): void {
  const isCorrection = type === 'correction'
  const figure = FIGURES.get(isCorrection ? kind : type)
  if (figure === undefined) return
  const amount = parseAmount(kots ?? '') ?? ZERO
  if (type === 'payout') sums.payouts.set(seq, kind)
  if (isCorrection && figure === 'paidInPrizes') {
    const { details: corrected }: EventDetails = JSON.parse(details ?? '{}')
    sums.corrections.push({ corrects: Number(corrected?.['corrects']), amount })
  } else if (figure !== 'paidInPrizes' || isPrize(kind)) {
    sums[figure] = add(sums[figure], amount)
  }
}

/** Whether a payout is a prize: no refund and no loyalty reward. */
const isPrize = (kind: string): boolean => kind !== 'refund' && kind !== 'loyalty'

/** Checks that the server's flows of a month are the sums of its events. */
export async function* checkFlows(
  log: Log,
  month: string,
  tree: SignedCheckpoint,
  sums: Sums,
): CheckSteps<true> {
  for (const { corrects, amount } of sums.corrections) {
    const kind = sums.payouts.get(corrects) ?? (yield* provedEvent(log, tree, corrects))?.kind
    if (kind === undefined) return undefined
    if (isPrize(kind)) sums.paidInPrizes = add(sums.paidInPrizes, amount)
  }
  const end = new Date(Date.UTC(+month.slice(0, 4), +month.slice(5), 1)).toISOString().slice(0, 10)
  const shown: Flows = JSON.parse(await servedText(log, `flows?from=${month}-01&to=${end}&bucket=day`))
  for (const figure of FIGURES.values()) {
    const [served, sum] = [shown.totals[figure], formatAmount(sums[figure])]
    if (served !== sum)
      return yield* failed(
        `The server gives ${served} as ${figure} of the month, but its events add up to ${sum}`,
      )
  }
  const { spentOnPlay, paidInPrizes, burned } = shown.totals
  yield passed(
    `The amounts spent on play (${spentOnPlay}), paid in prizes (${paidInPrizes}) and burned (${burned}) in the month are the sums of its events`,
  )
  return true
}
