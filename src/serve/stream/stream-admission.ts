import type { LogReader } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import { type Parsed, parsed, type Problem, refused } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { CallerSlot, CallerSlots } from '../allowance/caller-slots.ts'
import { startOf } from '../http/log-filter.ts'
import type { StreamLimits } from './limits.ts'
import type { Subscription } from './subscription.ts'

/** Start of an admitted stream: its exclusive cursor and the slot that it holds. */
type Admitted = Readonly<{ after: Seq; slot: CallerSlot }>

export type AdmissionSettings = Readonly<{
  reader: LogReader
  slots: Pick<CallerSlots, 'take' | 'limits'>
  limits: StreamLimits
  /** Latest moment that a query may name. */
  latest: () => Ms
  /** Whether this node follows a log, so that a cursor may be ahead of its head. */
  follows: boolean
}>

/**
 * Makes the checks that come before the first byte. An admitted stream holds a slot, which must be released. A cursor
 * ahead of the head is admitted on a node that follows a log, unless the whole log ends before it, at `end`.
 */
export function admit(
  settings: AdmissionSettings,
  caller: string,
  subscription: Subscription,
  end: Seq | null,
): Parsed<Admitted> {
  const { reader, limits, latest, follows } = settings
  const { after, from } = subscription
  // Read from a snapshot: another thread may have streamed events that this thread's head has not reached.
  const { head, start } = reader.snapshot((snapshot) => ({
    head: snapshot.head.seq,
    start: startOf({ from, after }, snapshot, latest()),
  }))
  if (after !== undefined && after > head && (end !== null || !follows))
    return refused(streamCursorAhead(end ?? head, subscription))
  if (!start.ok) return start
  const isLive = after === undefined && from === undefined
  const taken = settings.slots.take(caller)
  if (taken.ok) return parsed({ after: isLive ? head : start.value, slot: taken.slot })
  return refused(taken.full === 'caller' ? callerFull(settings.slots.limits.perCaller) : nodeFull(limits))
}

function callerFull(perCaller: number): Problem {
  const detail = `This address has ${perCaller} open streams, its limit. Close one, or share one.`
  return { code: 'too-many-streams', detail }
}

function nodeFull(limits: StreamLimits): Problem {
  return {
    code: 'stream-capacity',
    detail: 'This node has reached its limit of streams. Try again later, or read /api/v1/events.',
    retryAfterSeconds: limits.capacityRetrySeconds,
  }
}

function streamCursorAhead(head: Seq, subscription: Subscription): Problem {
  const message = `\`${subscription.cursorName}\` is ahead of the head of the log, which is ${head}.`
  return {
    code: 'cursor-ahead',
    detail: message,
    errors: [{ parameter: subscription.cursorName, message }],
    members: { head },
  }
}
