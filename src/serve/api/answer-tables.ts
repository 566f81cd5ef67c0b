import { ANSWER_COLUMNS } from '../../protocol/endpoints/answer-columns.ts'
import type { AnswerOf, TableEndpoint } from '../../protocol/endpoints/endpoint-rows.ts'
import type { EventWire } from '../../protocol/event.ts'
import type { EventsPage, LoyaltyRun } from '../../protocol/resources.ts'
import type { AnswerTable, Cell } from '../http/csv.ts'

/** The table of each list. The API and the pages make their CSV from it. */
export const ANSWER_TABLES: { readonly [Id in TableEndpoint]: (answer: AnswerOf<Id>) => AnswerTable } = {
  contests: ({ contests, next }) => tableOf(ANSWER_COLUMNS.contests, contests, next),
  contestLedger: ({ payouts, next }) => eventRows(payouts, next),
  payouts: ({ unpaid, next }) => tableOf(ANSWER_COLUMNS.payouts, unpaid, next),
  flows: ({ buckets }) => tableOf(ANSWER_COLUMNS.flows, buckets, null),
  funds: ({ buckets }) => tableOf(ANSWER_COLUMNS.funds, buckets, null),
  patterns: ({ cells }) => tableOf(ANSWER_COLUMNS.patterns, cells.flatMap(patternRows), null),
  loyaltyRuns: ({ runs }) => tableOf(ANSWER_COLUMNS.loyaltyRuns, runs.map(runRow), null),
}

/** Events as a table, with their eight fields. */
export function eventRows(events: readonly EventWire[], next: string | null): AnswerTable {
  return tableOf(ANSWER_COLUMNS.contestLedger, events, next)
}

/** The events of a page as a table; with `details=1` it has one more column, the details of each event as JSON. */
export function eventsPageRows({ events, details, page }: EventsPage): AnswerTable {
  const table = eventRows(events, page.next)
  if (details === undefined) return table
  const texts = events.map(({ seq }) => (details[seq] === undefined ? null : JSON.stringify(details[seq])))
  const rows = table.rows.map((row, at) => [...row, texts[at] ?? null])
  return { ...table, columns: [...table.columns, 'details'], rows }
}

function tableOf<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, Cell>>[],
  next: string | null,
): AnswerTable {
  return { columns, rows: rows.map((row) => columns.map((name) => row[name])), next }
}

type PatternRow = Readonly<Record<(typeof ANSWER_COLUMNS.patterns)[number], Cell>>

/** Row of an hour of the week, then a row for each kind of play in it. No column counts an amount twice. */
function patternRows({ byKind, ...cell }: AnswerOf<'patterns'>['cells'][number]): readonly PatternRow[] {
  const { day, hour } = cell
  const empty = { spentOnPlay: null, paidInPrizes: null, burned: null, plays: null }
  return [
    { ...cell, kind: null, byKind: null },
    ...Object.entries(byKind).map(([kind, spent]) => ({ day, hour, ...empty, kind, byKind: spent })),
  ]
}

type RunRow = Readonly<Record<(typeof ANSWER_COLUMNS.loyaltyRuns)[number], Cell>>

function runRow({ input, output, ...run }: LoyaltyRun): RunRow {
  return {
    ...run,
    'input.seq': input?.seq ?? null,
    'input.digest': input?.digest ?? null,
    'input.bytes': input?.bytes ?? null,
    'input.url': input?.url ?? null,
    'input.at': input?.at ?? null,
    'input.atMs': input?.atMs ?? null,
    'output.seq': output?.seq ?? null,
    'output.digest': output?.digest ?? null,
    'output.bytes': output?.bytes ?? null,
    'output.url': output?.url ?? null,
    'output.at': output?.at ?? null,
    'output.atMs': output?.atMs ?? null,
  }
}
