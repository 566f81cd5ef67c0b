import type { EventWire } from '../protocol/event.ts'

/** Details of an event in JSON. Absent fields are omitted. A moment is a pair, and a price has twelve decimals. */
export type DetailsWire = Readonly<{
  title?: string
  opensAt?: string
  opensAtMs?: number
  closesAt?: string
  closesAtMs?: number
  count?: number
  unlocksAt?: string
  unlocksAtMs?: number
  reviewUntil?: string
  reviewUntilMs?: number
  claim?: boolean
  winners?: number
  /** Month of a loyalty payment, `yyyy-mm`. */
  month?: string
  paysAt?: string
  paysAtMs?: number
  digest?: string
  recipients?: number
  bytes?: number
  url?: string
  price?: string
  /** Seq of the event that a correction cancels. */
  corrects?: number
  reason?: string
  /** Seq of the cancelled event that this event replaces. */
  restates?: number
}>

/** An event with its details, or null. The event has only its eight keys. */
export type DetailedEvent = Readonly<{ event: EventWire; details: DetailsWire | null }>

/** Details by event, for one loop. A source with this map requests details and adds them to it. */
export type DetailsByEvent = WeakMap<EventWire, DetailsWire>

/** Option of the sources of events inside the client. */
export type WithDetails = Readonly<{ details?: DetailsByEvent | undefined }>
