import { type Answers, type TableEndpoint, tableTerms } from '../../protocol/endpoints/endpoints.ts'
import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import type { EventsPage } from '../../protocol/endpoints/event-endpoints.ts'
import type { FlowBucket } from '../../protocol/endpoints/figure-endpoints.ts'
import type { EventWire } from '../../protocol/event.ts'
import { TABLE_COLUMNS } from '../describe/dataset-columns.ts'
import type { AnswerTable, Cell } from '../http/csv.ts'
import { KIND_MAPS } from '../../project/answers/flows.ts'
import { KIND_FIGURES } from '../../project/fold/tally.ts'

/** List of an answer as a table, for the CSV of the API and of the pages. */
export function answerTable(
  id: TableEndpoint,
  answer: Readonly<{ asOf: AsOf; next?: string | null }>,
): AnswerTable {
  const { list, divided } = tableTerms(id)
  const rows = Reflect.get(answer, list)
  if (divided !== undefined && rows.some(isByKind)) {
    return { columns: divided.columns, rows: rows.flatMap(kindRows), next: null }
  }
  return tableOf(id, id === 'patterns' ? rows.flatMap(patternRows) : rows, answer.next ?? null)
}

/** Events as a table, with their eight fields. */
export function eventRows(events: readonly EventWire[], next: string | null): AnswerTable {
  return tableOf('contestLedger', events, next)
}

/** The events of a page as a table; with `details=1` it has one more column, the details of each event as JSON. */
export function eventsPageRows({ events, details, page }: EventsPage): AnswerTable {
  const table = eventRows(events, page.next)
  if (details === undefined) return table
  const texts = events.map(({ seq }) => (details[seq] === undefined ? null : JSON.stringify(details[seq])))
  const rows = table.rows.map((row, at) => [...row, texts[at] ?? null])
  return { ...table, columns: [...table.columns, 'details'], rows }
}

function tableOf(id: TableEndpoint, rows: readonly object[], next: string | null): AnswerTable {
  const columns = TABLE_COLUMNS[id].map(({ name }) => name)
  const paths = columns.map((name) => name.split('.'))
  return { columns, rows: rows.map((row) => paths.map((path) => cellAt(row, path))), next }
}

/** Value at a path such as `input`, `digest`; null where an object on the way is null. */
function cellAt(row: object, path: readonly string[]): Cell {
  return path.reduce((at, name) => Object(at)[name], Object(row)) ?? null
}

function isByKind(bucket: FlowBucket): boolean {
  return bucket.spentByKind !== undefined
}

/** A row for each kind of each figure of a bucket. */
function kindRows(bucket: FlowBucket): readonly (readonly Cell[])[] {
  return KIND_FIGURES.flatMap((figure) =>
    Object.entries(bucket[KIND_MAPS[figure]] ?? {}).map(([kind, kots]) => [bucket.at, figure, kind, kots]),
  )
}

/** Row of an hour of the week, then a row for each kind of play in it. No column counts an amount twice. */
function patternRows({ byKind, ...cell }: Answers['patterns']['cells'][number]): readonly object[] {
  const { day, hour } = cell
  return [cell, ...Object.entries(byKind).map(([kind, spent]) => ({ day, hour, kind, byKind: spent }))]
}
