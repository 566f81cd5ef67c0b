import { cpus, loadavg, totalmem } from 'node:os'
import { parseArgs } from 'node:util'

/** Settings from a bench's command line. */
export type BenchSettings = Readonly<{
  /** Directory of big stores, kept between runs. */
  store: string
  /** Events of the large store. */
  events: number
  runs: number
}>

/** Parses the flags of a bench. The default is the quick run. */
export function benchSettings(directory: string): BenchSettings {
  const { values } = parseArgs({
    options: {
      store: { type: 'string', default: directory },
      events: { type: 'string', default: String(QUICK_EVENTS) },
      runs: { type: 'string', default: '40' },
    },
  })
  return { store: values.store, events: Number(values.events), runs: Number(values.runs) }
}

export const QUICK_EVENTS = 1_000_000
export const FULL_EVENTS = 5_000_000
/** Events of the small store, with which the large one is compared. */
export const SMALL_EVENTS = 100_000

/** A Markdown table that is also legible as text: the first column to the left, numbers to the right. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(header), line(rule), ...rows.map(line)].join('\n')
}

/** Milliseconds with about three significant digits. */
export function ms(value: number): string {
  return value.toFixed(value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0)
}

export function thousands(value: number): string {
  return value.toLocaleString('en-US')
}

/** The machine and the versions of a result. */
export function machine(sqliteVersion: string): string {
  const models = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${models.length} × ${models[0]?.model ?? 'unknown'}, ${memory} GiB; Node ${process.versions.node}, SQLite ${sqliteVersion}; load ${(loadavg()[0] ?? 0).toFixed(1)} at the beginning`
}

/** Reports the progress of building a store on standard error. */
export function sayBuilding(count: number): (events: number) => void {
  return (events) => {
    if (events % 500_000 === 0)
      process.stderr.write(`building: ${thousands(events)} of ${thousands(count)}\n`)
  }
}
