import type { Price } from '../../protocol/amount.ts'
import type { Entry } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import { floorTo, MINUTE_MS } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { Activity } from './books.ts'
import type { ContestMove } from './fold.ts'
import { countContest, countFigures } from './fold.ts'
import { effectOf, post, postingOf } from './ledger.ts'
import type { Tally, Totals } from './tally.ts'
import { NO_PRICE } from './tally.ts'

/** Events after which a new row of prefix totals begins within one minute. */
const CHUNK_EVENTS_MAX = 256

/**
 * Whether an event begins a chunk: the first of its minute, or one after 256 of the same chunk. A row of
 * prefix totals holds the figures before the first event of a chunk, so that rows are written once and the
 * totals at a whole minute are one row, read as it stands.
 */
export function beginsChunk(lastAtMs: Ms | null, eventsInChunk: number, atMs: Ms): boolean {
  if (lastAtMs === null || eventsInChunk >= CHUNK_EVENTS_MAX) return true
  return floorTo(lastAtMs, MINUTE_MS) !== floorTo(atMs, MINUTE_MS)
}

/** What a reader looks up to count the few events after a row. */
export type ReplayShelf = Readonly<{
  entry(seq: Seq): Entry | undefined
  move(seq: Seq): ContestMove | undefined
  standingPrice(seq: Seq): Price | undefined
}>

/** Counts one more event in a tally that has every event before it. */
export function replay(tally: Tally, entry: Entry, shelf: ReplayShelf): void {
  const corrects = entry.event.type === 'correction' ? entry.details?.corrects : undefined
  const effect = effectOf(entry, corrects === undefined ? undefined : shelf.entry(corrects))
  countFigures(tally, effect)
  const posting = postingOf(effect)
  if (posting !== undefined) post(tally, posting)
  const move = effect.cause.event.contestId === null ? undefined : shelf.move(entry.event.seq)
  if (move !== undefined) countContest(tally, move)
  if (effect.cause.event.type === 'price') {
    tally.figures.tokenPrice = shelf.standingPrice(entry.event.seq) ?? NO_PRICE
  }
}

/** What `/patterns` sums, out of a tally. The kinds are copied: the tally goes on. */
export function activityOf(tally: Tally): Activity {
  const { plays, spentOnPlay, paidInPrizes, burned } = tally.figures
  return { plays, spentOnPlay, paidInPrizes, burned, spentByKind: new Map(tally.spentByKind) }
}

/** The same out of a row of prefix totals. */
export function activityOfTotals(totals: Totals): Activity {
  return {
    plays: totals.figure('plays'),
    spentOnPlay: totals.figure('spentOnPlay'),
    paidInPrizes: totals.figure('paidInPrizes'),
    burned: totals.figure('burned'),
    spentByKind: totals.spentByKind(),
  }
}
