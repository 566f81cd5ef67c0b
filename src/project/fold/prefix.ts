import type { Price } from '../../protocol/amount.ts'
import type { Entry } from '../../protocol/event.ts'
import { floorTo, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { Activity } from './books.ts'
import { type ContestMove, countContest, countFigures, effectOf, post, postingOf } from './ledger.ts'
import { NO_PRICE, type Tally, type Totals } from './tally.ts'
import { setsPrice } from '../../protocol/rules.ts'

/** Events of the longest chunk within one minute. */
const CHUNK_EVENTS_MAX = 256

/**
 * Whether an event begins a chunk: the first event of a minute, or the first after a full chunk. A row of prefix totals
 * has the figures before the first event of a chunk. So a row is written once, and the totals at a whole minute are one
 * row.
 */
export function beginsChunk(lastAtMs: Ms | null, eventsInChunk: number, atMs: Ms): boolean {
  if (lastAtMs === null || eventsInChunk >= CHUNK_EVENTS_MAX) return true
  return floorTo(lastAtMs, MINUTE_MS) !== floorTo(atMs, MINUTE_MS)
}

/** Look-ups for counting the events after a row. */
export type ReplayRepository = Readonly<{
  entry(seq: Seq): Entry | undefined
  move(seq: Seq): ContestMove | undefined
  standingPrice(seq: Seq): Price | undefined
}>

/** Counts the next event in a tally of all events before it. */
export function replay(tally: Tally, entry: Entry, repository: ReplayRepository): void {
  const corrects = entry.event.type === 'correction' ? entry.details?.corrects : undefined
  const effect = effectOf(entry, corrects === undefined ? undefined : repository.entry(corrects))
  countFigures(tally, effect)
  const posting = postingOf(effect)
  if (posting !== undefined) post(tally, posting)
  const move = effect.cause.event.contestId === null ? undefined : repository.move(entry.event.seq)
  if (move !== undefined) countContest(tally, move)
  if (setsPrice(entry.event)) tally.figures.tokenPrice = repository.standingPrice(entry.event.seq) ?? NO_PRICE
}

/** Activity in a tally. Copies the kinds, because the tally changes later. */
export function activityOf(tally: Tally): Activity {
  const { plays, spentOnPlay, paidInPrizes, burned } = tally.figures
  return { plays, spentOnPlay, paidInPrizes, burned, spentByKind: new Map(tally.byKind.spentOnPlay) }
}

/** Activity in a row of prefix totals. */
export function activityOfTotals(totals: Totals): Activity {
  return {
    plays: totals.figure('plays'),
    spentOnPlay: totals.figure('spentOnPlay'),
    paidInPrizes: totals.figure('paidInPrizes'),
    burned: totals.figure('burned'),
    spentByKind: totals.byKind('spentOnPlay'),
  }
}
