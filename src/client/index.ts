/**
 * The client for browsers and servers. It asks the API below the rate limit, follows the stream, resumes at its cursor,
 * and notices gaps. It may import `protocol` and `tlog`, and uses the runtime only through `surroundings.ts`. Begin to
 * read in `daybook.ts`, then `ask.ts` for one request and `stream.ts` for the stream.
 */
export { add, type Amount, formatAmount, parseAmount, ZERO } from '../protocol/amount.ts'
export type { EventWire } from '../protocol/event.ts'
export type * from '../protocol/enumerations.ts'
export type * from '../protocol/endpoints/contest-endpoints.ts'
export type * from '../protocol/endpoints/description-endpoints.ts'
export type * from '../protocol/endpoints/event-endpoints.ts'
export type * from '../protocol/endpoints/figure-endpoints.ts'
export type * from '../protocol/endpoints/file-endpoints.ts'
export { type Answer, type Ask, type AskOptions, type AskSettings, type OpenAnswer, openAsk } from './ask.ts'
export { type Daybook, type Events, openDaybook } from './daybook.ts'
export { DaybookError, type ErrorCode } from './daybook-error.ts'
export type { DetailedEvent, DetailsWire } from './event-details.ts'
export type { EventFilter } from './filter.ts'
export type { FollowAsked } from './follow.ts'
export type { MonthAsked } from './months.ts'
export type { EventsAsked } from './event-pages.ts'
export type { Time } from '../protocol/parameters.ts'
export type { StreamState } from './stream-state.ts'
export type { StreamAsked, StreamStatus } from './stream.ts'
