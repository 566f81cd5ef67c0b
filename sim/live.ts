import { MINUTE_MS, type Ms, msOf, SECOND_MS } from '../src/protocol/moment.ts'
import { endlessDrafts, type HistorySettings } from './history.ts'
import { type PublishDraft, publishDraft } from './import-draft.ts'

/** Longest delay that is caught up. After a longer one the rest of the plan is moved. */
export const CATCH_UP_MS_MAX: number = 10 * MINUTE_MS
/** Longest wait for a held draft to which another refers. */
const HELD_MS_MAX: number = 2 * MINUTE_MS
/** Most drafts of one request while catching up. */
export const BATCH_MAX = 200

/**
 * Draft of live time, and the moment at which to publish it. It names the draft that it corrects or restates by its
 * number in the plan; the publisher replaces the number by a seq.
 */
export type ScheduledDraft = Readonly<{ draft: PublishDraft; dueAt: Ms }>

type LiveSettings = HistorySettings &
  Readonly<{
    /** Number of the plan's last draft that is in the log, from the history or from earlier runs. */
    published: number
    now: () => Ms
  }>

/**
 * Endless drafts after the last one in the log. A plan is a pure function of its settings, so a restart replays it to the
 * draft number `published` and needs no saved state.
 *
 * A delay of up to ten minutes is caught up at once. After a longer delay (the process was off, or the machine asleep),
 * the rest of the plan moves by whole minutes and continues from now, with all its opens, closes, unlocks and payments.
 * So no draft is lost and none is published late in a burst, but the hours of the plan differ from those of the clock.
 */
export function* liveDrafts(settings: LiveSettings): Generator<ScheduledDraft, undefined> {
  const { now, published } = settings
  let shiftMs = 0
  let number = 0
  for (const draft of endlessDrafts(settings)) {
    if (++number <= published) continue
    const plannedMs = Date.parse(draft.at)
    const lagMs = now() - (plannedMs + shiftMs)
    if (lagMs > CATCH_UP_MS_MAX) shiftMs += lagMs - (lagMs % MINUTE_MS)
    yield { draft: publishDraft(draft, shiftMs), dueAt: msOf(plannedMs + shiftMs) }
  }
  return undefined
}

/** Publish API and clock that `publishOnTime` needs. */
type LiveApi = Readonly<{
  /** Publishes in this order; a rejection ends `publishOnTime`. */
  publish(drafts: readonly PublishDraft[]): Promise<void>
  now(): Ms
  /** Seq of the plan's draft of this number; `held` while it waits to be published; undefined when it never will be. */
  seqOf(number: number): number | 'held' | undefined
  /** Resolves at the moment, or when aborted. */
  until(moment: Ms, signal: AbortSignal): Promise<void>
}>

/**
 * Publishes each draft at its moment, and drafts of the same moment in one request, until aborted. The log may hold other
 * events too, so a draft that refers to another waits for its seq, also while that one is held. It is left out when
 * there is none.
 */
export async function publishOnTime(
  dues: Iterable<ScheduledDraft>,
  api: LiveApi,
  signal: AbortSignal,
): Promise<void> {
  let batch: PublishDraft[] = []
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await api.publish(batch)
    batch = []
  }
  for (const { draft, dueAt } of dues) {
    const numbers = referencedNumbers(draft)
    if (dueAt > api.now() || batch.length === BATCH_MAX || numbers.length > 0) {
      await flush()
      // Checked after publishing, so that a stop drops no draft that was due.
      if (dueAt > api.now()) await api.until(dueAt, signal)
      if (signal.aborted) return
    }
    await settled(numbers, api, signal)
    if (signal.aborted) return
    if (numbers.every((number) => typeof api.seqOf(number) === 'number')) batch.push(withSeqs(draft, api))
  }
  await flush()
}

/** Waits until none of these drafts is held, for `HELD_MS_MAX` at most. */
async function settled(numbers: readonly number[], api: LiveApi, signal: AbortSignal): Promise<void> {
  const end = api.now() + HELD_MS_MAX
  while (numbers.some((number) => api.seqOf(number) === 'held')) {
    if (signal.aborted || api.now() >= end) return
    await api.until(msOf(api.now() + SECOND_MS), signal)
  }
}

const POINTERS = ['corrects', 'restates'] as const

/** Numbers of the drafts that a draft corrects or restates. */
function referencedNumbers({ details }: PublishDraft): readonly number[] {
  return POINTERS.map((field) => details?.[field]).filter((value) => typeof value === 'number')
}

/** Draft with seqs of this log in place of the numbers that it corrects or restates. */
function withSeqs(draft: PublishDraft, api: LiveApi): PublishDraft {
  const details = { ...draft.details }
  for (const field of POINTERS) {
    const number = details[field]
    const seq = typeof number === 'number' ? api.seqOf(number) : undefined
    if (typeof seq === 'number') details[field] = seq
  }
  return draft.details === undefined ? draft : { ...draft, details }
}
