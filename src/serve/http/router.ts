import findMyWay from 'find-my-way'
import { assert } from '../../protocol/brand.ts'
import type { Route } from './route.ts'

export type Found = Readonly<{ route: Route; segments: Readonly<Record<string, string>> }>

/** Finds the route of a raw path, without decoding, case folding or trailing slash. `paths` are those of all routes. */
export type Router = ((path: string) => Found | undefined) & Readonly<{ paths: readonly string[] }>

/** Characters of our paths. Other paths are never looked up, so nothing needs decoding. */
const PATH = /^\/[A-Za-z0-9/_.-]*$/
const REST = '*'
/** Longest accepted part of a path. The longest valid one is a transaction of 128 characters. */
const PART_CHARS_MAX = 256

/** Opens a router; throws if two routes have the same path. */
export function openRouter(routes: readonly Route[]): Router {
  const way = findMyWay({
    caseSensitive: true,
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
    maxParamLength: PART_CHARS_MAX,
  })
  const byPattern = new Map<unknown, Route>()
  for (const route of routes) {
    const handler = (): void => undefined
    byPattern.set(handler, route)
    way.on('GET', patternOf(route.path), handler)
  }
  const find = (path: string): Found | undefined => {
    if (!PATH.test(path)) return undefined
    const found = way.find('GET', path)
    if (found === null) return undefined
    const route = byPattern.get(found.handler)
    assert(route !== undefined, 'every pattern has its route')
    const segments = segmentsOf(route, found.params)
    return segments === undefined ? undefined : { route, segments }
  }
  return Object.assign(find, { paths: routes.map(({ path }) => path) })
}

/** `/contests/{id}` in the notation of the library. */
function patternOf(path: string): string {
  return path.replaceAll(/\{(\w+)(\.\.\.)?\}/g, (_, name: string, rest?: string) =>
    rest === undefined ? `:${name}` : REST,
  )
}

/** Variable parts by name; undefined if one of them is empty, as in `/contests/`. */
function segmentsOf(
  route: Route,
  params: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> | undefined {
  const rest = /\{(\w+)\.\.\.\}$/.exec(route.path)?.[1]
  const segments: Record<string, string> = {}
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === '') return undefined
    segments[name === REST && rest !== undefined ? rest : name] = value
  }
  return segments
}
