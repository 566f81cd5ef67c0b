import { keysOf } from '../brand.ts'
import {
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  type Parameter,
  ROWS_MAX,
  SEARCH_CHARS_MAX,
  SEQ_MAX,
  TOP_ROWS_MAX,
  TZ_MINUTES_MAX,
  whole,
} from '../parameters.ts'
import { BUCKETS, CONTEST_SORTS, CONTEST_STATUSES, RECEIPT_CHECKPOINTS } from '../enumerations.ts'
import { EVENT_TYPES } from '../rules.ts'
import { CHAINS } from '../tx.ts'
import type { EndpointWithParameters, ParameterName } from './endpoint-rows.ts'

type Definition = Omit<Parameter, 'name'>
type Definitions<Name extends string> = Readonly<Record<Name, Definition>>

const timeOf = (absent: string, meaning: string): Definition => ({
  form: { is: 'time' },
  absent,
  meaning,
  example: '2026-10-01T00:00:00Z',
})

/** The cursor of a list of events. */
export const AFTER: Parameter = {
  name: 'after',
  form: whole(0, SEQ_MAX),
  absent: '0: from the beginning',
  meaning: 'Only events with a greater seq',
  example: '1200',
}

const FILTER: Definitions<'type' | 'kind' | 'contestId' | 'nonzero'> = {
  type: {
    form: { is: 'list-of', values: EVENT_TYPES },
    absent: 'every type',
    meaning: 'Only events of these types',
    example: 'payout,burn',
  },
  kind: {
    form: { is: 'words' },
    absent: 'every kind',
    meaning: 'Only events of these kinds. The kind of a correction is the type of the event that it cancels',
    example: 'winner,runner_up',
  },
  contestId: {
    form: { is: 'integers', min: 1, max: SEQ_MAX },
    absent: 'every contest and none',
    meaning: 'Only events of these contests',
    example: '42,43',
  },
  nonzero: {
    form: { is: 'flag' },
    absent: 'events without an amount too',
    meaning: '1: only events that carry an amount other than zero',
    example: '1',
  },
}

/** The parameters that choose events. */
export const FILTERS: readonly Parameter[] = keysOf(FILTER).map((name) => ({ name, ...FILTER[name] }))

const DETAILS: Definitions<'details'> = {
  details: {
    form: { is: 'flag' },
    absent: 'events alone',
    meaning: '1: with the details of the events that have some, such as prices and titles',
    example: '1',
  },
}

const FORMAT: Definitions<'format'> = {
  format: {
    form: { is: 'one-of', values: ['json', 'csv'] },
    absent: 'as Accept prefers, else json',
    meaning: 'csv: RFC 4180 with a header row',
    example: 'csv',
  },
}

const PAGING: Definitions<'after' | 'limit' | 'format'> = {
  after: { ...AFTER, absent: 'the first page', meaning: 'Rows after this cursor; take it from `next`' },
  limit: {
    form: whole(1, ROWS_MAX),
    absent: String(ROWS_MAX),
    meaning: 'Rows of a page',
    example: '100',
  },
  ...FORMAT,
}

const RANGE: Definitions<'from' | 'to' | 'bucket' | 'format'> = {
  from: timeOf(
    '360 minutes, 168 hours, 90 days, 52 weeks or 36 months before `to`, but not before the first event’s bucket',
    'Start of the range, inclusive',
  ),
  to: timeOf('the end of the present bucket', 'End of the range, exclusive'),
  bucket: {
    form: { is: 'one-of', values: BUCKETS },
    absent: 'day',
    meaning: 'Width of a bucket, aligned to UTC; weeks begin on Monday, months on their first day',
    example: 'hour',
  },
  ...FORMAT,
}

const EVENTS: Definitions<'from' | 'to' | 'tx' | 'order' | 'before' | 'limit' | 'format'> = {
  from: timeOf('no lower bound', 'Only events at or after this moment; with `after`, the later of both'),
  to: timeOf('no upper bound', 'Only events before this moment'),
  // A log takes what its own chain writes.
  tx: {
    form: { is: 'tx', chains: CHAINS },
    absent: 'every transaction and none',
    meaning: 'Only events that name this transaction, written as they write it',
    example: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
  },
  order: {
    form: { is: 'one-of', values: ['asc', 'desc'] },
    absent: 'asc',
    meaning: 'desc pages backwards from `before`',
    example: 'desc',
  },
  before: {
    form: whole(1, SEQ_MAX),
    absent: 'the head, with order=desc',
    meaning: 'Only events with a smaller seq; only with order=desc',
    example: '1200',
  },
  limit: {
    form: whole(1, PAGE_LIMIT_MAX),
    absent: `${PAGE_LIMIT_DEFAULT}; with format=csv everything that matches`,
    meaning: 'Events of a page',
    example: '100',
  },
  ...FORMAT,
}

/** Form, bounds and meaning of each parameter that a row of the table of endpoints names. */
export const ENDPOINT_PARAMETERS: {
  readonly [Id in EndpointWithParameters]: Definitions<ParameterName<Id>>
} = {
  summary: { at: timeOf('now', 'The state with all events up to this moment, as known then') },
  contests: {
    status: {
      form: { is: 'list-of', values: [...CONTEST_STATUSES, 'closed'] },
      absent: 'every status',
      meaning: 'Only contests of these statuses; closed = paying and paid',
      example: 'running,paying',
    },
    q: {
      form: { is: 'text', charsMax: SEARCH_CHARS_MAX, guarded: true },
      absent: 'every title',
      meaning:
        'Only contests with all these words, or their beginnings, in the title; case and accents are ignored',
      example: 'daily sketch',
    },
    sort: {
      form: { is: 'one-of', values: CONTEST_SORTS },
      absent: 'newest',
      meaning: `closesAt: soonest first; pool and prizesNotRedeemed: largest first, without \`after\` and with \`limit\` up to ${TOP_ROWS_MAX}`,
      example: 'closesAt',
    },
    ...PAGING,
  },
  contestLedger: PAGING,
  payouts: {
    contestId: {
      form: whole(1, SEQ_MAX),
      absent: 'every contest',
      meaning: 'Only prizes of this contest',
      example: '42',
    },
    ...PAGING,
  },
  flows: RANGE,
  funds: RANGE,
  patterns: {
    from: timeOf(
      '28 days before `to`, but not before the first event’s minute',
      'Start of the range, inclusive, floored to the minute',
    ),
    to: timeOf('the end of the present minute', 'End of the range, exclusive, ceiled to the minute'),
    tz: {
      form: { is: 'integer', min: -TZ_MINUTES_MAX, max: TZ_MINUTES_MAX, unit: 'whole minutes' },
      absent: '0',
      meaning: 'Minutes by which local time is ahead of UTC',
      example: '120',
    },
    ...FORMAT,
  },
  loyaltyRuns: FORMAT,
  logProof: {
    checkpoint: {
      form: { is: 'one-of', values: RECEIPT_CHECKPOINTS },
      absent: 'newest',
      meaning:
        'The checkpoint of the receipt. witnessed: the newest one that a quorum of witnesses has cosigned',
      example: 'witnessed',
    },
  },
  events: { after: AFTER, ...FILTER, ...EVENTS, ...DETAILS },
  stream: {
    after: { ...AFTER, absent: 'live from the head' },
    lastEventId: {
      form: whole(0, SEQ_MAX),
      absent: '`after`',
      meaning:
        'The header `Last-Event-ID` as a parameter, for clients that cannot set it; it overrides `after` and `from`',
      example: '1200',
    },
    from: timeOf(
      'live from the head',
      'Only events at or after this moment; with `after`, the later of both',
    ),
    ...FILTER,
    ...DETAILS,
  },
}
