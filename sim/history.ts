import { DAY_MS, formatAt, type Ms } from '../src/protocol/moment.ts'
import { beginContests } from './sim-contests.ts'
import type { ImportDraft } from './import-draft.ts'
import { beginLoyalty } from './loyalty-cycle.ts'
import { beginMarket } from './market.ts'
import { type Plan, simulate, type SimWorld } from './platform.ts'
import { beginTreasury } from './treasury.ts'

/** Length of the history of a demonstration: three months. */
export const HISTORY_MS: number = 92 * DAY_MS

/** Range of the history, `[from, to)`; live time begins at `to`. */
export type HistorySettings = Readonly<{
  seed: string
  from: Ms
  to: Ms
  /** 1 (the default) gives about 60,000 drafts in three months. */
  scale?: number
  /** Live payouts for each one that fails on the chain and is sent again; none by default. */
  failedOneIn?: number
}>

/** Past drafts of the platform, from `from` (the moment of the first) to before `to`. */
export function* history(settings: HistorySettings): Generator<ImportDraft, undefined> {
  const end = formatAt(settings.to)
  for (const draft of endlessDrafts(settings)) {
    if (draft.at >= end) return undefined
    yield draft
  }
  return undefined
}

/** Past drafts and, after `to`, endless live ones. The same settings give the same drafts. */
export function endlessDrafts(settings: HistorySettings): Generator<ImportDraft, undefined> {
  const { seed, from, to, scale = 1, failedOneIn = Infinity } = settings
  const plan: Plan = { seed, from, liveFrom: to, scale, failedOneIn }
  return simulate(plan, begin)
}

function begin(world: SimWorld): void {
  // The treasury comes first, because its deposit pays for everything else.
  beginTreasury(world)
  const market = beginMarket(world)
  beginContests(world, market)
  beginLoyalty(world)
}
