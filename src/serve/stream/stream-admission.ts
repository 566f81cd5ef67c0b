import type { Socket } from 'node:net'
import type { LogReader } from '../../log/store/reader.ts'
import type { Parsed, Problem } from '../../protocol/problem.ts'
import { parsed, refused } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { CallerSlot, CallerSlots } from '../allowance/caller-slots.ts'
import type { StreamLimits } from './limits.ts'
import type { Subscription } from './subscription.ts'

/** What may open a stream: the cursor it begins after and the place it takes. */
export type Admitted = Readonly<{ after: Seq; slot: CallerSlot }>

export type AdmissionSettings = Readonly<{
  reader: LogReader
  slots: Pick<CallerSlots, 'take' | 'limits'>
  limits: StreamLimits
  /** Whether this node follows another's log, so that it may lag behind what a client has seen. */
  follows: () => boolean
}>

/** Makes every check that comes before the first byte. What it admits holds a place that must be released. */
export async function admit(
  settings: AdmissionSettings,
  caller: string,
  subscription: Subscription,
  socket: Socket,
): Promise<Parsed<Admitted>> {
  const { reader, limits } = settings
  const { after } = subscription
  // Asked of a snapshot: another thread may have streamed what this one's head has not reached yet.
  const ahead = (): boolean => after !== null && after > reader.snapshot((snapshot) => snapshot.head.seq)
  const isAhead = ahead()
  if (isAhead && !settings.follows()) return refused(cursorAhead(settings, subscription))
  const taken = settings.slots.take(caller)
  if (!taken.ok)
    return refused(taken.full === 'caller' ? callerFull(settings.slots.limits.perCaller) : nodeFull(limits))
  const { slot } = taken
  try {
    // The place is taken first: it bounds how many may wait.
    if (after !== null && isAhead) await headReached(reader, after, limits.lagWaitMs, socket)
    if (!isAhead || !ahead()) return parsed({ after: after ?? reader.head().seq, slot })
  } catch (error) {
    slot.release()
    throw error
  }
  slot.release()
  return refused(cursorAhead(settings, subscription))
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

function cursorAhead(settings: AdmissionSettings, subscription: Subscription): Problem {
  const head = settings.reader.head().seq
  const message = `\`${subscription.cursorName}\` is ahead of the head of the log, which is ${head}.`
  return {
    code: 'cursor-ahead',
    detail: message,
    errors: [{ parameter: subscription.cursorName, message }],
    members: { head },
  }
}

/** Settles when the head has reached `seq`, when `withinMs` are over, or when the client is gone. */
function headReached(reader: LogReader, seq: Seq, withinMs: number, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer)
      stop()
      socket.off('close', settle)
      resolve()
    }
    const timer = setTimeout(settle, withinMs)
    const stop = reader.onHead((head) => {
      if (head.seq >= seq) settle()
    })
    socket.once('close', settle)
    if (socket.destroyed || reader.head().seq >= seq) settle()
  })
}
