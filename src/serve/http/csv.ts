import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import { escapeFormula } from '../../protocol/foreign-text.ts'
import type { ParsedQuery } from '../query/query.ts'

/** Value of a cell of an export; null for an empty cell. */
export type Cell = string | number | boolean | null

/** Answer as a table: a header, then a row for each element in the answer's order. */
export type AnswerTable = Readonly<{
  columns: readonly string[]
  rows: readonly (readonly Cell[])[]
  /** Address of the next page; null when there is none. */
  next: string | null
}>

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present'

/** CSV by RFC 4180 with CRLF. Amounts are the exact strings of the JSON, moments are in UTC. */
export function formatCsv({ columns, rows }: AnswerTable): string {
  return [columns, ...rows].map((row) => `${row.map(formatCell).join(',')}\r\n`).join('')
}

function formatCell(cell: Cell): string {
  if (cell === null) return ''
  const safe = escapeFormula(String(cell))
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Parameters that a file name omits, because it has the range of events and ends with the format. */
const UNNAMED: ReadonlySet<string> = new Set(['after', 'before', 'limit', 'order', 'format', 'details'])
/** Parameters with the reader's own words, which no answer repeats. The name only says that they were given. */
const SEARCHES: ReadonlySet<string> = new Set(['q'])
const WORD_LENGTH_MAX = 40

/**
 * File name of a CSV export: the path without `/api/v1`, the query, and then its range of events or the last event that
 * it counts. `cut` follows if there are more rows.
 */
export function exportName(
  { path, query }: Readonly<{ path: string; query: ParsedQuery }>,
  table: AnswerTable,
  asOf: AsOf | null,
): string {
  const last = asOf === null ? stretchOf(table) : `event-${asOf.seq}`
  return exportFileName({ path, query }, [last, ...(table.next === null ? [] : ['cut'])])
}

/** File name of a CSV: the path without `/api/v1`, the query, then these words. */
export function exportFileName(
  { path, query }: Readonly<{ path: string; query: ParsedQuery }>,
  ending: readonly string[],
): string {
  const asked = [...new URLSearchParams(query.format().slice(1))].filter(([name]) => !UNNAMED.has(name))
  const words = [
    'daybook',
    ...path
      .replace(/^\/api\/v1/, '')
      .split('/')
      .filter((part) => part !== ''),
    ...asked.flatMap(([name, value]) => (SEARCHES.has(name) ? ['search'] : [name, value])),
    ...ending,
  ]
  return `${words.map((word) => word.replaceAll(/[^\w.-]+/g, '-').slice(0, WORD_LENGTH_MAX)).join('-')}.csv`
}

/** First and last event of the rows. */
function stretchOf({ columns, rows }: AnswerTable): string {
  const seqs = rows.map((row) => Number(row[columns.indexOf('seq')])).filter((seq) => !Number.isNaN(seq))
  return seqs.length === 0 ? 'none' : `events-${Math.min(...seqs)}-${Math.max(...seqs)}`
}
