import type { LogReader } from '../../log/store/reader.ts'
import type { Parsed, Problem } from '../../protocol/problem.ts'
import { parsed, refused } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { CallerSlot, CallerSlots } from '../allowance/caller-slots.ts'
import type { StreamLimits } from './limits.ts'
import type { Subscription } from './subscription.ts'

/** Start of an admitted stream: its exclusive cursor and the slot that it holds. */
type Admitted = Readonly<{ after: Seq; slot: CallerSlot }>

export type AdmissionSettings = Readonly<{
  reader: LogReader
  slots: Pick<CallerSlots, 'take' | 'limits'>
  limits: StreamLimits
}>

/** Makes the checks that come before the first byte. An admitted stream holds a slot, which must be released. */
export function admit(
  settings: AdmissionSettings,
  caller: string,
  subscription: Subscription,
): Parsed<Admitted> {
  const { reader, limits } = settings
  // Read from a snapshot: another thread may have streamed events that this thread's head has not reached.
  const head = reader.snapshot((snapshot) => snapshot.head.seq)
  const after = subscription.after ?? head
  if (after > head) return refused(cursorAhead(head, subscription))
  const taken = settings.slots.take(caller)
  if (taken.ok) return parsed({ after, slot: taken.slot })
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
