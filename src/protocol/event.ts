import { type Amount, formatAmount, parseAmount } from './amount.ts'
import type { EventType } from './rules.ts'
import type { Details } from './details.ts'
import { formatAt, type Ms } from './moment.ts'
import type { ContestId, Seq } from './seq.ts'

/**
 * The words that every room uses: event, seq, amount, moment, draft, details, problems, and the table of endpoints with the
 * schemas of their answers. This room imports no other and does no I/O; it runs in servers and browsers. To read: this file,
 * `rules.ts` for the types of events, then `endpoints/endpoints.ts`.
 */

/** A published event in memory. `atMs` stands for both moment fields of the JSON form. */
export type DaybookEvent = Readonly<{
  seq: Seq
  type: EventType
  /** A fixed word of the type, or one that the operator chose (PROTOCOL.md, section 3). */
  kind: string
  atMs: Ms
  contestId: ContestId | null
  kots: Amount | null
  tx: string | null
}>

/** An event with its details. */
export type Entry = Readonly<{ event: DaybookEvent; details: Details | null }>

/** JSON form of an event: the eight keys in their order. */
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

/** Line of an event, formatted once at publication. Every answer contains these bytes. */
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

/** Parses a line that Daybook wrote, without conversion. Stringifying it again gives the same bytes. */
export function parseEventWire(line: string): EventWire {
  return JSON.parse(line) as EventWire
}

/** Parses a line that Daybook wrote. Throws when a field has no value of its type, because the log is then damaged. */
export function parseEvent(line: string): DaybookEvent {
  const wire = parseEventWire(line)
  const kots = wire.kots === null ? null : parseAmount(wire.kots)
  if (kots === undefined) throw new Error(`event ${wire.seq} has a malformed amount`)
  if (!areTyped(wire)) throw new Error(`event ${wire.seq} has a field without a value of its type`)
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

/** Whether the fields that are parsed without conversion have values of their types. */
function areTyped({ type, kind, atMs, contestId, tx }: EventWire): boolean {
  return (
    typeof type === 'string' &&
    typeof kind === 'string' &&
    typeof atMs === 'number' &&
    (contestId === null || typeof contestId === 'number') &&
    (tx === null || typeof tx === 'string')
  )
}
