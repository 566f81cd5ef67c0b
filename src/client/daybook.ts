import type { EventWire } from '../protocol/event.ts'
import type { Ask, AskSettings } from './ask.ts'
import { openAsk } from './ask.ts'
import type { FollowAsked } from './follow.ts'
import { followOf } from './follow.ts'
import type { Methods } from './methods.ts'
import { methodsOf } from './methods.ts'
import type { MonthAsked } from './months.ts'
import { readMonth } from './months.ts'
import type { EventsAsked } from './event-pages.ts'
import { pagesOf } from './event-pages.ts'
import type { Batches, StreamAsked } from './stream.ts'
import { streamOf } from './stream.ts'
import type { Surroundings } from './surroundings.ts'
import { SURROUNDINGS } from './surroundings.ts'

/** Events to loop over one by one; `batches` yields events that arrived together, for bulk writes. */
export type Events = AsyncIterable<EventWire> & Readonly<{ batches: () => Batches }>

/** Typed client of one Daybook. Each loop over events reads independently. Leaving a loop closes its connection. */
export type Daybook = Omit<Methods, 'events'> &
  Readonly<{
    ask: Ask
    /** Clock, timers, randomness and `fetch` that the client uses. */
    around: Surroundings
    /** One page of the log. */
    page: Methods['events']
    /** Events of the log, page after page, up to its end. */
    events: (asked?: EventsAsked) => Events
    /** New events from now on, or all events after a cursor, without end. */
    stream: (asked?: StreamAsked) => Events
    /** History from the first event, a moment or a cursor, then new events, without end. */
    follow: (asked?: FollowAsked) => Events
    /** Events of one month (`yyyy-mm`), read from its file. */
    month: (month: string, asked?: MonthAsked) => Events
  }>

/** Opens a client. Sends no request by itself. */
export function openDaybook(settings: AskSettings | string): Daybook {
  const { base, ...handed } = typeof settings === 'string' ? { base: settings } : settings
  const around = { ...SURROUNDINGS, ...handed }
  const ask = openAsk({ base, ...around })
  const methods = methodsOf(ask)
  return {
    ...methods,
    ask,
    around,
    page: methods.events,
    events: (asked = {}) => eventsOf(() => pagesOf(ask, asked)),
    stream: (asked = {}) => eventsOf(() => streamOf(ask, around, asked)),
    follow: (asked = {}) => eventsOf(() => followOf(ask, around, asked)),
    month: (month, asked) => eventsOf(() => readMonth(ask, around, month, asked)),
  }
}

/** Makes a loop over single events from batches. */
export function eventsOf(batches: () => Batches): Events {
  return {
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const events of batches()) yield* events
    },
  }
}
