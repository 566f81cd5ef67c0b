import type { EventWire } from '../protocol/event.ts'
import { type Ask, type AskSettings, openAsk } from './ask.ts'
import { type FollowAsked, followOf } from './follow.ts'
import { type MonthAsked, readMonth } from './months.ts'
import { type EventsAsked, pagesOf } from './event-pages.ts'
import { type Batches, type StreamAsked, streamOf } from './stream.ts'
import type { DetailedEvent, DetailsByEvent, WithDetails } from './event-details.ts'
import { type Surroundings, SURROUNDINGS } from './surroundings.ts'
import { keysOf } from '../protocol/brand.ts'
import type { Answers, RawEndpoint } from '../protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS, type EndpointId, type PathPart } from '../protocol/paths.ts'
import { endpointPath, type QueryOf, type QueryValues } from './endpoint-query.ts'

/** Events to loop over one by one; `batches` yields events that arrived together, for bulk writes. */
export type Events<One = EventWire> = AsyncIterable<One> & Readonly<{ batches: () => Batches<One> }>

/** Options of a loop. With `details: true` it yields `{ event, details }` instead of the event. */
type LoopAsked<Asked, Detailed extends boolean> = Asked & Readonly<{ details?: Detailed | undefined }>
type LoopEvents<Detailed extends boolean> = Events<Detailed extends true ? DetailedEvent : EventWire>
type Loop<Asked> = <Detailed extends boolean = false>(
  asked?: LoopAsked<Asked, Detailed>,
) => LoopEvents<Detailed>

/** Typed client of one Daybook. Each loop over events reads independently. Leaving a loop closes its connection. */
export type Daybook = Omit<Methods, 'events'> &
  Readonly<{
    ask: Ask
    /** Clock, timers, randomness and `fetch` that the client uses. */
    around: Surroundings
    /** One page of the log. */
    page: Methods['events']
    /** Events of the log, page after page, up to its end. */
    events: Loop<EventsAsked>
    /** New events from now on, or all events after a cursor, without end. */
    stream: Loop<StreamAsked>
    /** History from the first event, a moment or a cursor, then new events, without end. */
    follow: Loop<FollowAsked>
    /** Events of one month (`yyyy-mm`), read from its file. */
    month: <Detailed extends boolean = false>(
      month: string,
      asked?: LoopAsked<MonthAsked, Detailed>,
    ) => LoopEvents<Detailed>
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
    events: loopOf<EventsAsked>((asked) => pagesOf(ask, asked)),
    stream: loopOf<StreamAsked>((asked) => streamOf(ask, around, asked)),
    follow: loopOf<FollowAsked>((asked) => followOf(ask, around, asked)),
    month: (month, asked) => loopOf<MonthAsked>((own) => readMonth(ask, around, month, own))(asked),
  }
}

/** Makes the function that opens a loop. Creates the map of details only when details are requested. */
function loopOf<Asked>(batches: (asked: Asked & WithDetails) => Batches): Loop<Asked> {
  const open = (asked: Asked | undefined, details: DetailsByEvent | undefined): Batches =>
    batches(Object.assign({}, asked, { details }))
  async function* detailed(asked: Asked): Batches<DetailedEvent> {
    const details: DetailsByEvent = new WeakMap()
    for await (const events of open(asked, details)) {
      yield events.map((event) => ({ event, details: details.get(event) ?? null }))
    }
  }
  function loop<Detailed extends boolean = false>(asked?: LoopAsked<Asked, Detailed>): LoopEvents<Detailed>
  function loop(asked?: LoopAsked<Asked, boolean>): Events | Events<DetailedEvent> {
    return asked?.details === true ? eventsOf(() => detailed(asked)) : eventsOf(() => open(asked, undefined))
  }
  return loop
}

/** Makes a loop over single events from batches. */
export function eventsOf<One>(batches: () => Batches<One>): Events<One> {
  return {
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const events of batches()) yield* events
    },
  }
}

/** Endpoints with a method. Files and the stream have functions of their own. */
type AskedEndpoint = Exclude<EndpointId, RawEndpoint>
/** Value of the variable part of an endpoint's path. */
type PathValue<One extends AskedEndpoint> = PathPart<One> extends 'type' ? string : number
type MethodQuery<One extends AskedEndpoint> = Omit<QueryOf<One>, 'format'> &
  Readonly<{ signal?: AbortSignal | undefined }>
type AnyAsked = Omit<QueryValues, 'signal'> & Readonly<{ signal?: AbortSignal | undefined }>

/** One method for each endpoint. It takes the variable part of the path, if any, then the parameters. */
type Methods = Readonly<{
  [One in AskedEndpoint]: [PathPart<One>] extends [never]
    ? (asked?: MethodQuery<One>) => Promise<Answers[One]>
    : (value: PathValue<One>, asked?: MethodQuery<One>) => Promise<Answers[One]>
}>

/** Makes the methods from the table of endpoints. Parses answers without checking their form. */
function methodsOf({ get }: Pick<Ask, 'get'>): Methods {
  const method = (id: EndpointId) => async (first?: string | number | AnyAsked, second?: AnyAsked) => {
    const [value, asked = {}] = typeof first === 'object' ? ['', first] : [first ?? '', second]
    const { signal, ...query } = asked
    const answer = await get(endpointPath(id, value, query), { signal })
    const isJson = /\bjson\b/.test(answer.headers.get('content-type') ?? '')
    return isJson ? answer.json() : answer.text()
  }
  return Object.fromEntries(keysOf(ENDPOINT_PATHS).map((id): readonly unknown[] => [id, method(id)]))
}
