/** Longest text that is compared, in characters. A longer one has no near name. */
const TEXT_CHARS_MAX = 40
/** Changed characters that a text may have: one in a short text, two in a longer one. */
const SHORT_CHARS = 4

/**
 * Name that a misspelt text most likely means: equal apart from case and punctuation, or one or two characters away.
 * Undefined when none is near. It is always one of `names`, so an answer may show it.
 */
export function nearest(text: string, names: readonly string[]): string | undefined {
  const wanted = folded(text)
  if (text.length > TEXT_CHARS_MAX || wanted === '') return undefined
  const limit = wanted.length <= SHORT_CHARS ? 1 : 2
  let found: string | undefined
  let least = limit + 1
  for (const name of names) {
    const distance = distanceBetween(wanted, folded(name))
    if (distance < least && distance < wanted.length) {
      least = distance
      found = name
    }
  }
  return found
}

function folded(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** Distance in characters to add, drop, change or swap with their neighbour (optimal string alignment). */
function distanceBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : changed
      next.push(Math.min(changed, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? Number.POSITIVE_INFINITY
}

/** Most segments of a compared path. A longer path has no near path. */
const SEGMENTS_MAX = 8

/** Finds the path in the table that an unknown path most likely means, such as `/api/v1/contests/{id}`. */
export type NearPaths = (path: string) => string | undefined

/** Opens the search among the paths of all routes. The result is from the table and repeats nothing of the request. */
export function openNearPaths(paths: readonly string[]): NearPaths {
  const table = paths
    .filter((path) => !path.includes('...}'))
    .map((path) => ({ path, segments: segmentsOf(path) }))
  const near = (wanted: readonly string[]): string | undefined => {
    const found = table
      .map(({ path, segments }) => ({ path, misses: missesOf(wanted, segments) }))
      .filter(({ misses }) => misses <= 1)
    return found.toSorted((a, b) => a.misses - b.misses).at(0)?.path
  }
  return (path) => {
    const [first = '', second = '', ...rest] = segmentsOf(path)
    const wanted = [first, second, ...rest].filter((segment) => segment !== '')
    if (wanted.length === 0 || wanted.length > SEGMENTS_MAX) return undefined
    // `/api/v1/flows.csv`: the files of pages are outside the API.
    if (first === 'api' && second === 'v1') return near(wanted) ?? near(rest)
    if (first !== 'api') return near(wanted)
    // Another version, or none.
    return near(['api', 'v1', ...(/^v\d+$/.test(second) ? rest : wanted.slice(1))])
  }
}

function segmentsOf(path: string): readonly string[] {
  return path
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '')
}

/**
 * Number of misspelt segments of a path, compared with a path of the table. Infinite when they differ in more than
 * spelling.
 */
function missesOf(wanted: readonly string[], segments: readonly string[]): number {
  if (wanted.length !== segments.length) return Number.POSITIVE_INFINITY
  let misses = 0
  for (const [at, segment] of segments.entries()) {
    const given = wanted[at] ?? ''
    if (segment === given || segment.startsWith('{')) continue
    if (nearest(given, [segment]) === undefined) return Number.POSITIVE_INFINITY
    misses += 1
  }
  return misses
}
