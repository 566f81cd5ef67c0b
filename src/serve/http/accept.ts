import type { Route } from './route.ts'

/** Entries of an `Accept` header that are read. */
const ENTRIES_MAX = 32
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Weight of a media type in an `Accept` header, and how exact the range is that gives it. */
type Match = Readonly<{ quality: number; specificity: number }>

/**
 * The media type of `offered` that an `Accept` header prefers (RFC 9110, section 12.5.1). Of types with the same weight it
 * is the one that is named more exactly, then the earlier one of `offered`. Also when none is acceptable, the first.
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  let [best] = offered
  if (accept === undefined) return best
  const ranges = rangesOf(accept)
  let least: Match = matchOf(ranges, best)
  for (const type of offered.slice(1)) {
    const match = matchOf(ranges, type)
    const isBetter =
      match.quality > least.quality ||
      (match.quality === least.quality && match.quality > 0 && match.specificity > least.specificity)
    if (isBetter) [best, least] = [type, match]
  }
  return best
}

/** Weight of each media range; of one that is named twice, the last. */
function rangesOf(accept: string): ReadonlyMap<string, number> {
  const ranges = new Map<string, number>()
  for (const entry of accept.toLowerCase().split(',', ENTRIES_MAX)) {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    // A malformed weight counts as 0.
    ranges.set(range, weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? 0))
  }
  return ranges
}

/** The most exact range that matches a type decides, also when it refuses what a wider one accepts. */
function matchOf(ranges: ReadonlyMap<string, number>, type: string): Match {
  const named = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*']
  const at = named.findIndex((range) => ranges.has(range))
  return at < 0
    ? { quality: 0, specificity: 0 }
    : { quality: ranges.get(named[at] ?? '') ?? 0, specificity: named.length - at }
}

/** Whether an `Accept` header asks for a list as CSV. Without one, or when it prefers neither, a list is JSON. */
export function prefersCsv(accept: string | undefined): boolean {
  return preferredType(accept, ['application/json', 'text/csv']) === 'text/csv'
}

/** Whether a request leaves the format of a list to `Accept`: the list has several, and the query names none. */
export function leavesFormat({ parameters }: Route, rawQuery: string): boolean {
  return parameters.some(({ name }) => name === 'format') && !new URLSearchParams(rawQuery).has('format')
}
