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

/** Events one by one, or those together that came together: for whoever writes them in bulk. */
export type Events = AsyncIterable<EventWire> & Readonly<{ batches: () => Batches }>

/** The typed client of one Daybook. Each loop over events is a reading of its own; leaving it closes its connection. */
export type Daybook = Omit<Methods, 'events'> &
  Readonly<{
    ask: Ask
    /** What it uses of whatever runs it. */
    around: Surroundings
    /** One page of the log. */
    page: Methods['events']
    /** The log as asked for, page after page, to its end. */
    events: (asked?: EventsAsked) => Events
    /** What is published from now on, or after a cursor, without end. */
    stream: (asked?: StreamAsked) => Events
    /** The whole log from its beginning, a moment or a cursor on, and then live. */
    follow: (asked?: FollowAsked) => Events
    /** The events of one month, `yyyy-mm`, from its file. */
    month: (month: string, asked?: MonthAsked) => Events
  }>

/** Opens a client. Nothing is sent before something is asked. */
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

/** Events to loop over, however they come together. */
export function eventsOf(batches: () => Batches): Events {
  return {
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const events of batches()) yield* events
    },
  }
}
