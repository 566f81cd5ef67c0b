import type { Ms } from '../src/protocol/moment.ts'
import { MINUTE_MS, msOf } from '../src/protocol/moment.ts'
import type { HistorySettings } from './history.ts'
import { everything } from './history.ts'
import type { PublishDraft } from './import-draft.ts'
import { publishDraft } from './import-draft.ts'

/** How far the plan may lag before it is moved instead of caught up. */
export const CATCH_UP_MS_MAX: number = 10 * MINUTE_MS
/** Drafts handed over at once while catching up. */
export const BATCH_MAX = 200

/**
 * One draft of live time, without a moment of its own, and when to publish it. What it corrects or restates is
 * named by its number in the plan: the driver knows its seq.
 */
export type Due = Readonly<{ draft: PublishDraft; dueAt: Ms }>

type LiveSettings = HistorySettings &
  Readonly<{
    /** The number of the plan's last draft that is in the log: of history, or of earlier runs. */
    published: number
    now: () => Ms
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
  const { now, published } = settings
  let shiftMs = 0
  let number = 0
  for (const draft of everything(settings)) {
    if (++number <= published) continue
    const plannedMs = Date.parse(draft.at)
    const lagMs = now() - (plannedMs + shiftMs)
    if (lagMs > CATCH_UP_MS_MAX) shiftMs += lagMs - (lagMs % MINUTE_MS)
    yield { draft: publishDraft(draft, shiftMs), dueAt: msOf(plannedMs + shiftMs) }
  }
  return undefined
}

/** The way into the service and the time to wait, as the driver needs them. */
type LiveDoor = Readonly<{
  /** Publishes in this order; a rejection ends the driver. */
  publish(drafts: readonly PublishDraft[]): Promise<void>
  now(): Ms
  /** The seq that the plan's draft of this number has in the log; undefined when it is not there. */
  seqOf(number: number): number | undefined
  /** Resolves at the moment or when aborted, whichever comes first. */
  until(moment: Ms, signal: AbortSignal): Promise<void>
}>

/**
 * Publishes each draft at its time, those due together in one request, until aborted. The log may hold more than
 * the plan, so a draft that points at another is sent when that one has its seq, and left out when it has none.
 */
export async function drive(dues: Iterable<Due>, door: LiveDoor, signal: AbortSignal): Promise<void> {
  let batch: PublishDraft[] = []
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await door.publish(batch)
    batch = []
  }
  for (const { draft, dueAt } of dues) {
    const numbers = numbersIn(draft)
    if (dueAt > door.now() || batch.length === BATCH_MAX || numbers.length > 0) {
      await flush()
      // Checked after publishing: what was due is not dropped by a stop, and nothing more is begun.
      if (dueAt > door.now()) await door.until(dueAt, signal)
      if (signal.aborted) return
    }
    if (numbers.every((number) => door.seqOf(number) !== undefined)) batch.push(pointed(draft, door))
  }
  await flush()
}

const POINTERS = ['corrects', 'restates'] as const

/** The numbers of the drafts that a draft points at. */
function numbersIn({ details }: PublishDraft): readonly number[] {
  return POINTERS.map((field) => details?.[field]).filter((value) => typeof value === 'number')
}

/** Points what a draft corrects or restates at seqs of this log. */
function pointed(draft: PublishDraft, door: LiveDoor): PublishDraft {
  const details = { ...draft.details }
  for (const field of POINTERS) {
    const number = details[field]
    const seq = typeof number === 'number' ? door.seqOf(number) : undefined
    if (seq !== undefined) details[field] = seq
  }
  return draft.details === undefined ? draft : { ...draft, details }
}
