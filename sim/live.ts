import type { Ms } from '../src/protocol/moment.ts'
import { MINUTE_MS, msOf } from '../src/protocol/moment.ts'
import type { HistorySettings } from './history.ts'
import { everything } from './history.ts'
import type { ImportDraft, PublishDraft } from './import-draft.ts'
import { publishDraft } from './import-draft.ts'

/** How far the plan may lag before it is moved instead of caught up. */
export const CATCH_UP_MS_MAX: number = 10 * MINUTE_MS
/** Drafts handed over at once while catching up. */
export const BATCH_MAX = 200

/** One draft of live time, without a moment of its own, and when to publish it. */
export type Due = Readonly<{ draft: PublishDraft; dueAt: Ms }>

export type LiveSettings = HistorySettings &
  Readonly<{
    /** Drafts of the same plan that are already in the log: history's, and those of earlier runs. */
    published: number
    now: () => Ms
    /** The seq that a draft's number has in the log; by default they are equal, as in a log of nothing else. */
    seqOf?: (number: number) => number
  }>

/**
 * Goes on where the log ends, for ever. A plan is a pure function of its settings, so a restart replays it to
 * the draft number `published` and needs no saved state.
 *
 * A lag of up to ten minutes is caught up at once. A longer one (the process was off, the machine asleep) is
 * taken out: the rest of the plan, its planned opens, closes, unlocks and payments included, moves by whole
 * minutes so that it continues from now. Nothing is published late in a rush, and nothing of the story is lost;
 * the price is that hours of the day in the plan are no longer those of the clock.
 */
export function* live(settings: LiveSettings): Generator<Due, undefined> {
  const { now, published, seqOf = (number) => number } = settings
  let shiftMs = 0
  let number = 0
  for (const draft of everything(settings)) {
    if (++number <= published) continue
    const plannedMs = Date.parse(draft.at)
    const lagMs = now() - (plannedMs + shiftMs)
    if (lagMs > CATCH_UP_MS_MAX) shiftMs += lagMs - (lagMs % MINUTE_MS)
    yield { draft: publishDraft(pointed(draft, seqOf), shiftMs), dueAt: msOf(plannedMs + shiftMs) }
  }
  return undefined
}

/** The way into the service and the time to wait, as the driver needs them. */
export type Door = Readonly<{
  /** Publishes in this order; a rejection ends the driver. */
  publish(drafts: readonly PublishDraft[]): Promise<void>
  now(): Ms
  /** Resolves at the moment or when aborted, whichever comes first. */
  until(moment: Ms, signal: AbortSignal): Promise<void>
}>

/** Publishes each draft at its time, those due together in one request, until aborted. */
export async function drive(dues: Iterable<Due>, door: Door, signal: AbortSignal): Promise<void> {
  let batch: PublishDraft[] = []
  for (const { draft, dueAt } of dues) {
    if (dueAt > door.now() || batch.length === BATCH_MAX) {
      if (batch.length > 0) await door.publish(batch)
      batch = []
      // Checked after publishing: what was due is not dropped by a stop, and nothing more is begun.
      if (dueAt > door.now()) await door.until(dueAt, signal)
      if (signal.aborted) return
    }
    batch.push(draft)
  }
  if (batch.length > 0) await door.publish(batch)
}

/** Points what a draft corrects or restates at seqs of this log. */
function pointed(draft: ImportDraft, seqOf: (number: number) => number): ImportDraft {
  const { details } = draft
  if (details === undefined) return draft
  const { corrects, restates } = details
  if (typeof corrects !== 'number' && typeof restates !== 'number') return draft
  return {
    ...draft,
    details: {
      ...details,
      ...(typeof corrects === 'number' ? { corrects: seqOf(corrects) } : {}),
      ...(typeof restates === 'number' ? { restates: seqOf(restates) } : {}),
    },
  }
}
