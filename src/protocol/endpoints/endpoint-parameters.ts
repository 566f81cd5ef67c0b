import { type Parameter, ROWS_MAX, SEQ_MAX, whole } from '../parameters.ts'
import { EVENT_TYPES } from '../rules.ts'

// Parameters that several endpoints take. The rows of the endpoints have the others. All are literals, so that the client
// derives the type of each value from its form.

/** A parameter that takes a time. */
export const timeOf = (absent: string, meaning: string) =>
  ({ form: { is: 'time' }, absent, meaning, example: '2026-10-01T00:00:00Z' }) as const

/** The cursor of a list of events. */
export const AFTER = {
  form: whole(0, SEQ_MAX),
  absent: '0: from the beginning',
  meaning: 'Only events with a greater seq',
  example: '1200',
} as const

/** The parameters that choose events. */
export const FILTER = {
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
} as const

export const DETAILS = {
  details: {
    form: { is: 'flag' },
    absent: 'events alone',
    meaning: '1: with the details of the events that have some, such as prices and titles',
    example: '1',
  },
} as const

export const FORMAT = {
  format: {
    form: { is: 'one-of', values: ['json', 'csv'] },
    absent: 'as Accept prefers, else json',
    meaning: 'csv: RFC 4180 with a header row',
    example: 'csv',
  },
} as const

export const PAGING = {
  after: { ...AFTER, absent: 'the first page', meaning: 'Rows after this cursor; take it from `next`' },
  limit: {
    form: whole(1, ROWS_MAX),
    absent: String(ROWS_MAX),
    meaning: 'Rows of a page',
    example: '100',
  },
  ...FORMAT,
} as const

/** Parameters as a list, in their order. */
export function parametersOf(
  defined: Readonly<Record<string, Omit<Parameter, 'name'>>>,
): readonly Parameter[] {
  return Object.entries(defined).map(([name, definition]) => ({ name, ...definition }))
}

/** The parameters that choose events, as a list. */
export const FILTERS: readonly Parameter[] = parametersOf(FILTER)
