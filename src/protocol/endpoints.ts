import { ENDPOINT_PATHS } from './paths.ts'
import type { Parameter } from './parameters.ts'
import {
  AFTER,
  FILTERS,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  PAGING,
  RANGE,
  SEQ_MAX,
  timeOf,
  TZ_MINUTES_MAX,
  whole,
} from './parameters.ts'
import { CONTEST_STATUSES } from './resources.ts'

/** How an answer may be kept: decided per answer where it depends on the parameters. */
export type Caching = 'immutable' | 'revalidate' | 'by-range' | 'never'

export type Endpoint = Readonly<{
  id: string
  path: string
  /** Name of the answer's type in `resources`, or the media type of a file. */
  answer: string
  caching: Caching
  meaning: string
  parameters: readonly Parameter[]
}>

const JSON_ANSWER = { caching: 'revalidate' } as const

/** Every public endpoint. The router, the client, OpenAPI and the reference page derive from this table. */
export const ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'summary',
    path: ENDPOINT_PATHS.summary.path,
    answer: 'Summary',
    caching: 'by-range',
    meaning: 'Headline figures, now or as of a past moment',
    parameters: [timeOf('at', 'now', 'The state with all events up to this moment, as known then')],
  },
  {
    ...JSON_ANSWER,
    id: 'contests',
    path: ENDPOINT_PATHS.contests.path,
    answer: 'Contests',
    meaning: 'All contests since launch, newest first',
    parameters: [
      {
        name: 'status',
        form: { is: 'list-of', values: [...CONTEST_STATUSES, 'closed'] },
        absent: 'every status',
        meaning: 'Only contests of these statuses, comma-separated; closed = paying and paid',
        example: 'running,paying',
      },
      ...PAGING,
    ],
  },
  {
    ...JSON_ANSWER,
    id: 'contest',
    path: ENDPOINT_PATHS.contest.path,
    answer: 'Contest',
    meaning: 'One contest',
    parameters: [],
  },
  {
    ...JSON_ANSWER,
    id: 'contestLedger',
    path: ENDPOINT_PATHS.contestLedger.path,
    answer: 'ContestLedger',
    meaning: 'One contest: its pool, each kind of prize owed and redeemed, each payout with its transaction',
    parameters: PAGING,
  },
  {
    ...JSON_ANSWER,
    id: 'schedule',
    path: ENDPOINT_PATHS.schedule.path,
    answer: 'Schedule',
    meaning: 'Planned contest opens and closes, and the next loyalty payment',
    parameters: [],
  },
  {
    ...JSON_ANSWER,
    id: 'scheduleCalendar',
    path: ENDPOINT_PATHS.scheduleCalendar.path,
    answer: 'text/calendar',
    meaning: 'The schedule as an iCalendar feed',
    parameters: [],
  },
  {
    ...JSON_ANSWER,
    id: 'payouts',
    path: ENDPOINT_PATHS.payouts.path,
    answer: 'Payouts',
    meaning: 'Prizes won and not yet paid, with when each becomes available',
    parameters: [
      {
        name: 'contestId',
        form: whole(1, SEQ_MAX),
        absent: 'every contest',
        meaning: 'Only prizes of this contest',
        example: '42',
      },
      ...PAGING,
    ],
  },
  {
    id: 'flows',
    path: ENDPOINT_PATHS.flows.path,
    answer: 'Flows',
    caching: 'by-range',
    meaning: 'Spent on play, paid in prizes, burned, and the token price, per bucket',
    parameters: RANGE,
  },
  {
    ...JSON_ANSWER,
    id: 'funds',
    path: ENDPOINT_PATHS.funds.path,
    answer: 'Funds',
    meaning: 'Treasury, running pools, loyalty fund and prizes not redeemed: now and as a history',
    parameters: RANGE,
  },
  {
    ...JSON_ANSWER,
    id: 'loyaltyRuns',
    path: ENDPOINT_PATHS.loyaltyRuns.path,
    answer: 'LoyaltyRuns',
    meaning: 'Each month’s loyalty reward with the digests of its input and output',
    parameters: [],
  },
  {
    id: 'events',
    path: ENDPOINT_PATHS.events.path,
    answer: 'EventsPage',
    caching: 'by-range',
    meaning: 'The event log, paged and filtered, as JSON or CSV',
    parameters: [
      AFTER,
      timeOf('from', 'no lower bound', 'Only events at or after this moment'),
      timeOf('to', 'no upper bound', 'Only events before this moment'),
      ...FILTERS,
      {
        name: 'order',
        form: { is: 'one-of', values: ['asc', 'desc'] },
        absent: 'asc',
        meaning: 'desc pages backwards from `before`',
        example: 'desc',
      },
      {
        name: 'before',
        form: whole(1, SEQ_MAX),
        absent: 'the head, with order=desc',
        meaning: 'Only events with a smaller seq; only with order=desc',
        example: '1200',
      },
      {
        name: 'limit',
        form: whole(1, PAGE_LIMIT_MAX),
        absent: String(PAGE_LIMIT_DEFAULT),
        meaning: 'Events of a page',
        example: '100',
      },
      {
        name: 'format',
        form: { is: 'one-of', values: ['json', 'csv'] },
        absent: 'json',
        meaning: 'csv: RFC 4180 with a header row',
        example: 'csv',
      },
    ],
  },
  {
    id: 'event',
    path: ENDPOINT_PATHS.event.path,
    answer: 'Event',
    caching: 'immutable',
    meaning: 'One event by its seq: its exact line',
    parameters: [],
  },
  {
    id: 'eventDetails',
    path: ENDPOINT_PATHS.eventDetails.path,
    answer: 'EventDetails',
    caching: 'immutable',
    meaning: 'What an event says beyond its eight fields',
    parameters: [],
  },
  {
    id: 'patterns',
    path: ENDPOINT_PATHS.patterns.path,
    answer: 'Patterns',
    caching: 'by-range',
    meaning: 'Game activity by hour of day and day of week',
    parameters: [
      timeOf('from', '28 days before `to`', 'Start of the range, inclusive, floored to the minute'),
      timeOf(
        'to',
        'the end of the present minute, or 28 days after `from`, whichever is earlier',
        'End of the range, exclusive, ceiled to the minute',
      ),
      {
        name: 'tz',
        form: whole(-TZ_MINUTES_MAX, TZ_MINUTES_MAX),
        absent: '0',
        meaning: 'Minutes by which local time is ahead of UTC',
        example: '120',
      },
    ],
  },
  {
    ...JSON_ANSWER,
    id: 'archive',
    path: ENDPOINT_PATHS.archive.path,
    answer: 'ArchiveIndex',
    meaning: 'Every month of the archive, with sizes and digests',
    parameters: [],
  },
  {
    id: 'archiveFile',
    path: ENDPOINT_PATHS.archiveFile.path,
    answer: 'application/gzip',
    caching: 'by-range',
    meaning: 'A month’s events or details as gzip-compressed JSON lines, its manifest, or SHA256SUMS',
    parameters: [],
  },
  {
    id: 'stream',
    path: ENDPOINT_PATHS.stream.path,
    answer: 'text/event-stream',
    caching: 'never',
    meaning: 'The events pushed live as Server-Sent Events, or as JSON lines',
    parameters: [{ ...AFTER, absent: 'live from the head' }, ...FILTERS],
  },
  {
    ...JSON_ANSWER,
    id: 'eventTypes',
    path: ENDPOINT_PATHS.eventTypes.path,
    answer: 'EventTypes',
    meaning: 'The catalogue of types and of the kinds seen, with a JSON Schema for each type',
    parameters: [],
  },
  {
    ...JSON_ANSWER,
    id: 'openapi',
    path: ENDPOINT_PATHS.openapi.path,
    answer: 'OpenAPI',
    meaning: 'This interface as an OpenAPI 3.1 document',
    parameters: [],
  },
  {
    ...JSON_ANSWER,
    id: 'status',
    path: ENDPOINT_PATHS.status.path,
    answer: 'Status',
    meaning: 'The head of the log and its age, the version, and whether this node keeps up',
    parameters: [],
  },
]
