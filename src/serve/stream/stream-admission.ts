import type { LogReader } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Parsed, Problem } from '../../protocol/problem.ts'
import { parsed, refused } from '../../protocol/problem.ts'
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
  /** The wall clock. */
  now: () => Ms
}>

/** Makes the checks that come before the first byte. An admitted stream holds a slot, which must be released. */
export function admit(
  settings: AdmissionSettings,
  caller: string,
  subscription: Subscription,
): Parsed<Admitted> {
  const { reader, limits, now } = settings
  const { after, from } = subscription
  // Read from a snapshot: another thread may have streamed events that this thread's head has not reached.
  const { head, start } = reader.snapshot((snapshot) => ({
    head: snapshot.head.seq,
    start: startOf({ from, after }, snapshot, now()),
  }))
  if (after !== undefined && after > head) return refused(cursorAhead(head, subscription))
  if (!start.ok) return start
  const isLive = after === undefined && from === undefined
  const taken = settings.slots.take(caller)
  if (taken.ok) return parsed({ after: isLive ? head : start.value, slot: taken.slot })
  return refused(taken.full === 'caller' ? callerFull(settings.slots.limits.perCaller) : nodeFull(limits))
}

function callerFull(perCaller: number): Problem {
  const detail = `This address has ${perCaller} streams open, as many as one address may. Close one, or share one.`
  return { code: 'too-many-streams', detail }
}

function nodeFull(limits: StreamLimits): Problem {
  return {
    code: 'stream-capacity',
    detail: 'This node serves as many streams as it may. Try again, or read /api/v1/events.',
    retryAfterSeconds: limits.capacityRetrySeconds,
  }
}

function cursorAhead(head: Seq, subscription: Subscription): Problem {
  const message = `\`${subscription.cursorName}\` is ahead of the head of the log, which is ${head}.`
  return {
    code: 'cursor-ahead',
    detail: message,
    errors: [{ parameter: subscription.cursorName, message }],
    members: { head },
  }
}
