import type { EventWire } from '../protocol/event.ts'
import type { EventType } from '../protocol/rules.ts'

/** Filter of events. An event must match every given field, and one value of a list. An empty list matches all. */
export type EventFilter = Readonly<{
  type?: readonly EventType[] | undefined
  kind?: string | readonly string[] | undefined
  contestId?: number | readonly number[] | undefined
  /** Only events that carry an amount other than zero. */
  nonzero?: boolean | undefined
}>

type Value = string | number | null

const ZERO = '0.000000000'

/** Whether an event matches the filter. */
export function isWanted({ type, kind, contestId, nonzero }: EventFilter, event: EventWire): boolean {
  return (
    admits(type, event.type) &&
    admits(kind, event.kind) &&
    admits(contestId, event.contestId) &&
    !(nonzero === true && (event.kots ?? ZERO) === ZERO)
  )
}

function admits(asked: Value | readonly Value[] | undefined, value: Value): boolean {
  const values = [asked ?? []].flat()
  return values.length === 0 || values.includes(value)
}
