import type { EventWire } from '../protocol/event.ts'
import type { EventType } from '../protocol/rules.ts'

/** Filter of events. An event must match every given field. */
export type EventFilter = Readonly<{
  type?: readonly EventType[] | undefined
  kind?: string | undefined
  contestId?: number | undefined
  /** Only events that carry an amount other than zero. */
  nonzero?: boolean | undefined
}>

const ZERO = '0.000000000'

/** Whether an event matches the filter. */
export function isWanted(filter: EventFilter, event: EventWire): boolean {
  const { type = [], kind = event.kind, contestId = event.contestId, nonzero = false } = filter
  return (
    (type.length === 0 || type.some((one) => one === event.type)) &&
    kind === event.kind &&
    contestId === event.contestId &&
    !(nonzero && (event.kots ?? ZERO) === ZERO)
  )
}
