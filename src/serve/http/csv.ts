import { escapeFormula } from '../../protocol/foreign-text.ts'

/** Value of a cell of an export; null for an empty cell. */
export type Cell = string | number | boolean | null

/** Answer as a table: a header, then a row for each element in the answer's order. */
export type AnswerTable = Readonly<{
  columns: readonly string[]
  rows: readonly (readonly Cell[])[]
  /** Address of the next page; null if these are all rows. */
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
