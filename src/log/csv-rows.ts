import { escapeFormula } from '../protocol/foreign-text.ts'

/** The fields of an event line, for its CSV row. None of their values can contain a comma, quote or line break. */
const CSV_LINE =
  /\{"seq":(\d+),"type":"(\w+)","kind":"(\w+)","at":"([^"]+)","atMs":(\d+),"contestId":(null|\d+),"kots":(null|"[^"]*"),"tx":(null|"[^"]*")\}\n/g

/** CSV rows of event lines, each of which ends with a line break. */
export function csvRows(lines: Uint8Array): Uint8Array {
  return Buffer.from(
    formatCsvRows(Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength).toString('utf8')),
  )
}

/** CSV row of one event line, with a last cell for its details: their JSON in quotes, or nothing. */
export function csvRowWithDetails(line: string, details: string | null): string {
  const row = formatCsvRows(`${line}\n`).slice(0, -LINE_END.length)
  const cell = details === null ? '' : `"${escapeFormula(details).replaceAll('"', '""')}"`
  return `${row},${cell}${LINE_END}`
}

const LINE_END = '\r\n'

function formatCsvRows(lines: string): string {
  return lines.replace(CSV_LINE, (_line, seq, type, kind, at, atMs, contestId, kots, tx) => {
    const cells = [seq, type, kind, at, atMs, cellOf(contestId), cellOf(kots), escapeFormula(cellOf(tx))]
    return `${cells.join(',')}${LINE_END}`
  })
}

function cellOf(json: string): string {
  if (json === 'null') return ''
  return json.startsWith('"') ? json.slice(1, -1) : json
}
