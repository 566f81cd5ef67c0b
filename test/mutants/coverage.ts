import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../stage/places.ts'

/** Executed places of each source of the product, as pairs of places: from, to. */
export type Executed = Readonly<Record<string, readonly number[]>>

/** Report of one process or thread, as V8 writes it: the ranges of a function are nested, the outer one first. */
type Report = Readonly<{
  result: readonly Readonly<{
    url: string
    functions: readonly Readonly<{
      ranges: readonly Readonly<{ startOffset: number; endOffset: number; count: number }>[]
    }>[]
  }>[]
}>

/**
 * Reads the reports of `NODE_V8_COVERAGE` in a folder. Node replaces types by spaces, so the places of the reports are
 * places in the sources.
 */
export function executedIn(folder: string): Executed {
  const marks = new Map<string, Uint8Array>()
  for (const name of readdirSync(folder)) {
    for (const { url, functions } of reportIn(join(folder, name)).result) {
      const file = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url.split('?', 1)[0] ?? url)) : ''
      if (!file.startsWith('src/') || file.endsWith('.test.ts')) continue
      const length = functions[0]?.ranges[0]?.endOffset ?? 0
      const own = new Uint8Array(length)
      for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges))
        own.fill(count > 0 ? 1 : 0, startOffset, endOffset)
      const all = marks.get(file) ?? own
      marks.set(file, all)
      if (all !== own) for (const [place, mark] of own.entries()) if (mark === 1) all[place] = 1
    }
  }
  return Object.fromEntries([...marks].map(([file, mark]) => [file, rangesOf(mark)]))
}

/** A report; one without results when its process was killed while it wrote. */
function reportIn(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return { result: [] }
  }
}

function rangesOf(marks: Uint8Array): readonly number[] {
  const ranges: number[] = []
  for (let from = marks.indexOf(1); from >= 0;) {
    const end = marks.indexOf(0, from)
    ranges.push(from, end < 0 ? marks.length : end)
    from = end < 0 ? -1 : marks.indexOf(1, end)
  }
  return ranges
}

/** Whether a place is in one of the ranges. */
export function isExecuted(ranges: readonly number[] | undefined, place: number): boolean {
  if (ranges === undefined) return false
  for (let index = 0; index < ranges.length; index += 2)
    if (place >= (ranges[index] ?? 0) && place < (ranges[index + 1] ?? 0)) return true
  return false
}
