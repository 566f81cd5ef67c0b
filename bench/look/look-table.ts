import { ms, table, thousands } from '../stage/report.ts'
import { type LookRow, PERFORMANCE_MIN, performanceOf } from './look-measure.ts'

const COLUMNS = [
  'page',
  'performance',
  'accessibility',
  'best practices',
  'search',
  'LCP ms',
  'TBT ms',
  'CLS',
  'elements',
  'HTML KiB',
  'requests',
  'KiB',
  'machine',
] as const

/** The findings as a Markdown table, a row for each page. */
export function lookTable(rows: readonly LookRow[]): string {
  return table(
    COLUMNS,
    rows.map((row) => [
      row.path,
      ...row.scores.map(String),
      ms(row.lcpMs),
      row.tbtMs.toFixed(0),
      row.cls.toFixed(3),
      thousands(row.elements),
      kib(row.htmlBytes),
      String(row.requests),
      kib(row.bytes),
      row.speed.toFixed(0),
    ]),
  )
}

function kib(bytes: number): string {
  return (bytes / 1024).toFixed(1)
}

/** A line for each goal that the page misses: 100 in each category, and `PERFORMANCE_MIN` for performance. */
export function goalsMissed(row: LookRow): readonly string[] {
  const { path, scores, failed } = row
  const met = performanceOf(row) >= PERFORMANCE_MIN && scores.slice(1).every((score) => score === 100)
  return met ? [] : [`${path} misses a goal: ${failed.join(', ')}`]
}
