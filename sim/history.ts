import type { Ms } from '../src/protocol/moment.ts'
import { DAY_MS, formatAt } from '../src/protocol/moment.ts'
import { beginContests } from './sim-contests.ts'
import type { ImportDraft } from './import-draft.ts'
import { beginLoyalty } from './loyalty-cycle.ts'
import { beginMarket } from './market.ts'
import type { Plan, SimWorld } from './platform.ts'
import { story } from './platform.ts'
import { beginTreasury } from './treasury.ts'

/** The three months that a demonstration begins with. */
export const HISTORY_MS: number = 92 * DAY_MS

/** A stretch of the past, `[from, to)`; live time begins at `to`. */
export type HistorySettings = Readonly<{
  seed: string
  from: Ms
  to: Ms
  /** 1 (the default) gives about 60,000 drafts in three months. */
  scale?: number
}>

/** The platform's past: drafts from `from` (the first is at that very moment) to `to`, exclusive. */
export function* history(settings: HistorySettings): Generator<ImportDraft, undefined> {
  const end = formatAt(settings.to)
  for (const draft of everything(settings)) {
    if (draft.at >= end) return undefined
    yield draft
  }
  return undefined
}

/** The past and, after `to`, its endless continuation in live grain; the same settings give the same drafts. */
export function everything(settings: HistorySettings): Generator<ImportDraft, undefined> {
  const { seed, from, to, scale = 1 } = settings
  const plan: Plan = { seed, from, liveFrom: to, scale }
  return story(plan, begin)
}

function begin(world: SimWorld): void {
  // The treasury comes first: without its deposit nothing else could be paid for.
  beginTreasury(world)
  const market = beginMarket(world)
  beginContests(world, market)
  beginLoyalty(world)
}
