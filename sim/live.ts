import { MINUTE_MS, type Ms, msOf, SECOND_MS } from '../src/protocol/moment.ts'
import { endlessDrafts, type HistorySettings } from './history.ts'
import { type PublishDraft, publishDraft } from './import-draft.ts'

/** Longest delay that is caught up. After a longer one the rest of the plan is moved. */
export const CATCH_UP_MS_MAX: number = 10 * MINUTE_MS
/** Longest wait for a held draft to which another refers. */
const HELD_MS_MAX: number = 2 * MINUTE_MS
/** Wait before a retry while the publish API accepts nothing. */
const LATER_MS: number = 5 * SECOND_MS
/** Wait before a retry of a temporarily refused draft, and the time after which it is abandoned. */
const AGAIN_MS: number = SECOND_MS
const AGAIN_MS_MAX: number = 30 * SECOND_MS

/**
 * Live draft, and the moment at which to publish it. A corrected or restated draft is given by its number in the plan,
 * which the publisher replaces by a seq.
 */
export type ScheduledDraft = Readonly<{ draft: PublishDraft; dueAt: Ms }>

type LiveSettings = HistorySettings &
  Readonly<{
    /** Number of the plan's last draft that is in the log, from the history or from earlier runs. */
    published: number
    now: () => Ms
  }>

/**
 * Endless drafts after the last one in the log. A plan is a pure function of its settings, so a restart replays it to
 * the draft number `published` and needs no saved state.
 *
 * A delay of up to ten minutes is caught up immediately. After a longer delay (the process was off, or the machine
 * asleep), the rest of the plan moves by whole minutes and continues from now. All its opens, closes, unlocks and
 * payments move with it. So no draft is lost and none is published late in a burst, but the hours of the plan differ
 * from those of the clock.
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

/**
 * Outcome of a request: accepted, to be sent again `later` because the publish API accepts nothing now, or refused. A
 * refusal `mayPass` while drafts are held, because their publication may change it.
 */
export type SendResult = 'accepted' | 'later' | Readonly<{ refused: string; mayPass: boolean }>

/** Publish API and clock that `publishOnTime` needs. */
type LiveApi = Readonly<{
  send(draft: PublishDraft): Promise<SendResult>
  now(): Ms
  /** Resolves at the moment, or when aborted. */
  until(moment: Ms, signal: AbortSignal): Promise<void>
  /**
   * Seq of the plan's draft with this number; `held` while it waits to be published; undefined when it never will be.
   */
  seqOf(number: number): number | 'held' | undefined
  /** Called for an abandoned draft, with the reason of its refusal. */
  skip(draft: PublishDraft, reason: string): void
}>

/**
 * Publishes each draft at its moment, in order, until aborted. The log may have other events too, so a draft that
 * refers to another waits for its seq, even while that one is held. It is left out when there is none.
 *
 * A refused draft contradicts events that users published by hand, and is skipped. After a temporary refusal it is
 * first sent again for half a minute, once for each contest. So a contest that a user has ended does not delay all
 * others.
 */
export async function publishOnTime(
  dues: Iterable<ScheduledDraft>,
  api: LiveApi,
  signal: AbortSignal,
): Promise<void> {
  const givenUp = new Set<number>()

  async function publish(draft: PublishDraft): Promise<void> {
    const end = givenUp.has(draft.contestId ?? 0) ? api.now() : api.now() + AGAIN_MS_MAX
    while (!signal.aborted) {
      const sent = await api.send(draft)
      if (sent === 'accepted') return
      if (sent !== 'later' && (!sent.mayPass || api.now() >= end)) {
        if (sent.mayPass && draft.contestId !== undefined) givenUp.add(draft.contestId)
        return api.skip(draft, sent.refused)
      }
      await api.until(msOf(api.now() + (sent === 'later' ? LATER_MS : AGAIN_MS)), signal)
    }
  }

  for (const { draft, dueAt } of dues) {
    if (dueAt > api.now()) await api.until(dueAt, signal)
    const numbers = referencedNumbers(draft)
    await settled(numbers, api, signal)
    if (signal.aborted) return
    if (numbers.every((number) => typeof api.seqOf(number) === 'number')) await publish(withSeqs(draft, api))
  }
}

/** Waits until none of these drafts is held, at most `HELD_MS_MAX`. */
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

/** Draft with seqs of this log instead of the numbers that it corrects or restates. */
function withSeqs(draft: PublishDraft, api: LiveApi): PublishDraft {
  const details = { ...draft.details }
  for (const field of POINTERS) {
    const number = details[field]
    const seq = typeof number === 'number' ? api.seqOf(number) : undefined
    if (typeof seq === 'number') details[field] = seq
  }
  return draft.details === undefined ? draft : { ...draft, details }
}
