import type { Amount } from './amount.ts'
import { formatAmount, parseAmount } from './amount.ts'
import type { EventType } from './rules.ts'
import type { Details } from './details.ts'
import type { Ms } from './moment.ts'
import { formatAt } from './moment.ts'
import type { ContestId, Seq } from './seq.ts'

/** A published fact with its seq; immutable. The in-memory form of the eight fields. */
export type DaybookEvent = Readonly<{
  seq: Seq
  type: EventType
  /** The operator's own word, or a fixed one (section 3). */
  kind: string
  atMs: Ms
  contestId: ContestId | null
  kots: Amount | null
  tx: string | null
}>

/** An event with what it says beyond its eight fields. */
export type Entry = Readonly<{ event: DaybookEvent; details: Details | null }>

/** The eight keys as they stand on the wire, in their order. */
export type EventWire = Readonly<{
  seq: number
  type: string
  kind: string
  at: string
  atMs: number
  contestId: number | null
  kots: string | null
  tx: string | null
}>

/** The line is made once, when the event is published; every surface shows these bytes. */
export function formatEvent(event: DaybookEvent): string {
  return JSON.stringify({
    seq: event.seq,
    type: event.type,
    kind: event.kind,
    at: formatAt(event.atMs),
    atMs: event.atMs,
    contestId: event.contestId,
    kots: event.kots === null ? null : formatAmount(event.kots),
    tx: event.tx,
  } satisfies EventWire)
}

/** A line that Daybook wrote as the object it is: written again, it gives the same bytes. */
export function parseEventWire(line: string): EventWire {
  return JSON.parse(line) as EventWire
}

/** Reads a line that Daybook wrote; throws on anything else, since a broken line is a broken log. */
export function parseEvent(line: string): DaybookEvent {
  const wire = parseEventWire(line)
  const kots = wire.kots === null ? null : parseAmount(wire.kots)
  if (kots === undefined) throw new Error(`event ${wire.seq} has an amount that is none`)
  return {
    seq: wire.seq as Seq,
    type: wire.type as EventType,
    kind: wire.kind,
    atMs: wire.atMs as Ms,
    contestId: wire.contestId as ContestId | null,
    kots,
    tx: wire.tx,
  }
}
