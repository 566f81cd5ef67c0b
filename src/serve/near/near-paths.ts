import { nearest } from './nearest.ts'

/** Segments of a path that are compared; a longer path is near to nothing. */
const SEGMENTS_MAX = 8

/** Finds the path in the table that a path without a route most likely means, such as `/api/v1/contests/{id}`. */
export type NearPaths = (path: string) => string | undefined

/** Opens the search among the paths of all routes. What it returns is in the table, and repeats nothing of a path. */
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

/** Misspelt segments of a path beside a path of the table; infinite when they differ in more than their spelling. */
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
