import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/** Settings of a bench, which `bench/run.ts` passes on. */
type BenchSettings = Readonly<{
  /** Directory of the large logs, kept between runs. */
  store: string
  /** Events of the large log. */
  events: number
  /** Rounds in which the candidates take turns. */
  rounds: number
  full: boolean
}>

/** A measured promise: a figure of Daybook beside that of a peer. `undefined` is a peer that is not installed. */
export type Measured = Readonly<{
  what: string
  unit: string
  peer: string
  /** Figures of each round. Those of one round are of the same minute. */
  ours: readonly number[]
  theirs: readonly number[] | undefined
  better: 'less' | 'more'
}>

/** Parses the options of a bench. */
export function benchSettings(): BenchSettings {
  const { values } = parseArgs({
    options: {
      store: { type: 'string', default: join(tmpdir(), 'daybook-bench') },
      events: { type: 'string' },
      full: { type: 'boolean', default: false },
    },
  })
  const { store, full } = values
  return {
    store,
    full,
    events: Number(values.events ?? (full ? 5_000_000 : 1_000_000)),
    rounds: full ? 9 : 5,
  }
}

/** Prints a row of the table for each promise: medians of the figures, and the median of the rounds' ratios. */
export function report(rows: readonly Measured[]): void {
  for (const { what, unit, peer, ours, theirs, better } of rows) {
    const cells =
      theirs === undefined
        ? ['not installed', '']
        : [
            figure(median(theirs)),
            figure(median(ours.map((one, round) => one / (theirs[round] ?? Number.NaN)))),
          ]
    process.stdout.write(`| ${[what, unit, figure(median(ours)), peer, ...cells, better].join(' | ')} |\n`)
  }
}

/** The heading of the table that the rows of `report` make. */
export const HEADING = `| What | Unit | Daybook | Peer | Peer's | Ratio | Better |
|---|---|---:|---|---:|---:|---|
`

/** A Markdown table that is also legible as text: the first column to the left, numbers to the right. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const padded = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  const line = (cells: readonly string[]): string => `| ${cells.map(padded).join(' | ')} |`
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(header), line(rule), ...rows.map(line)].join('\n')
}

/** The sample at a quantile from 0 to 1. */
export function quantile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5)
}

/** A number with about three significant digits. */
function figure(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en-US')
  return value >= 0.1 ? value.toFixed(value < 10 ? 2 : 1) : value.toPrecision(2)
}

/** Calls a function of each candidate in turns, and returns its figures. The first round, of which none count, warms up. */
export async function inTurns<T>(
  rounds: number,
  candidates: readonly T[],
  measure: (candidate: T) => Promise<number> | number,
): Promise<readonly (readonly number[])[]> {
  const figures = candidates.map((): number[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [index, candidate] of candidates.entries()) {
      const measured = await measure(candidate)
      if (round > 0) figures[index]?.push(measured)
    }
  }
  return figures
}
