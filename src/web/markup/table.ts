import { unrunCell } from '../../protocol/csv.ts'

/** What a cell of an export holds: null is an empty cell. */
export type Cell = string | number | boolean | null

/** The rows of an answer by a published flattening: one header, then a row for each element, in the answer's order. */
export type AnswerTable = Readonly<{
  columns: readonly string[]
  rows: readonly (readonly Cell[])[]
  /** Where the rest is, when the answer is one page of several; null when these are all rows. */
  next: string | null
}>

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present'

/** RFC 4180 with CRLF: amounts as the exact strings of the JSON, moments in UTC. */
export function formatCsv({ columns, rows }: AnswerTable): string {
  return [columns, ...rows].map((row) => `${row.map(formatCell).join(',')}\r\n`).join('')
}

function formatCell(cell: Cell): string {
  if (cell === null) return ''
  const safe = unrunCell(String(cell))
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
