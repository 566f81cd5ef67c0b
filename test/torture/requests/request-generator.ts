import type { Random } from '../../../sim/random.ts'
import { encoded, hostileAddress, hostileText, MARK } from './hostile-values.ts'

type Schema = Readonly<{
  type?: string
  enum?: readonly string[]
  minimum?: number
  maximum?: number
  pattern?: string
  items?: Schema
  oneOf?: readonly Schema[]
}>
type ParameterDescription = Readonly<{
  name: string
  in: 'query' | 'path' | 'header'
  schema: Schema
  example?: string | number | readonly (string | number)[]
}>

/** Part of an OpenAPI document that requests are generated from. */
export type OperationDocument = Readonly<{
  paths: Readonly<
    Record<string, Readonly<{ get: Readonly<{ parameters?: readonly ParameterDescription[] }> }>>
  >
}>

/** Values that the served log has. Without them most requests would find nothing. */
export type KnownValues = Readonly<{
  head: number
  txs: readonly string[]
  kinds: readonly string[]
  /** First and last moment of the log, in milliseconds. */
  atMs: Readonly<{ first: number; last: number }>
  /** Last segments of paths, by the name of the parameter. */
  segments: Readonly<Record<string, readonly string[]>>
}>

/** A request, and what no answer to it may repeat. */
export type GeneratedRequest = Readonly<{
  /** Path template of its operation, or `''` when it is at no operation's path. */
  operation: string
  method: string
  target: string
  headers: Readonly<Record<string, string>>
  /** In lower case. */
  secrets: readonly string[]
}>

const OTHER_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PURGE', 'QUERY', 'PROPFIND'] as const
/** Probability that a parameter is given, and that its value is hostile. */
const GIVEN = 0.35
const HOSTILE = 0.15

/** Opens an endless series of requests, each to a random operation of a document. */
export function openRequests(
  { paths }: OperationDocument,
  known: KnownValues,
  random: Random,
): () => GeneratedRequest {
  const templates = Object.keys(paths)
  return () => {
    const operation = templates[random.below(templates.length)] ?? ''
    const parameters = paths[operation]?.get.parameters ?? []
    const secrets: string[] = []
    const hostile = (): string => {
      const { text, secrets: own } = hostileText(random)
      secrets.push(...own)
      return text
    }
    const valueOf = ({ name, schema, example }: ParameterDescription): string => {
      if (random.chance(HOSTILE)) return hostile()
      return random.chance(0.1) && example !== undefined
        ? [example].flat().join()
        : validValue(schema, name, known, random)
    }
    const path = pathOf(operation, parameters, valueOf, random)
    const query = queryOf(parameters, valueOf, hostile, random)
    const strayed = random.chance(0.09) ? strayPath(path, random) : path
    return {
      operation: strayed === path ? operation : '',
      method: methodOf(random),
      target: query === '' ? strayed : `${strayed}?${query}`,
      headers: headersOf(parameters, valueOf, random, secrets),
      secrets: [...new Set(secrets)],
    }
  }
}

function methodOf(random: Random): string {
  const kind = random.below(100)
  if (kind < 82) return 'GET'
  if (kind < 92) return 'HEAD'
  return kind < 95 ? 'OPTIONS' : random.pick(OTHER_METHODS)
}

type ValueOf = (parameter: ParameterDescription) => string

function pathOf(
  template: string,
  parameters: readonly ParameterDescription[],
  valueOf: ValueOf,
  random: Random,
): string {
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const found = parameters.find((each) => each.in === 'path' && each.name === name)
    const value = found === undefined ? whole : valueOf(found)
    // A tile's name has slashes that are not encoded.
    return /^[\w./-]+$/.test(value) && !value.includes('..') ? value : encoded(random, value) || '%'
  })
}

function queryOf(
  parameters: readonly ParameterDescription[],
  valueOf: ValueOf,
  hostile: () => string,
  random: Random,
): string {
  const pairs: string[] = []
  for (const parameter of parameters.filter((each) => each.in === 'query')) {
    if (!random.chance(GIVEN)) continue
    const repeats = random.chance(0.05) ? random.between(2, 25) : 1
    for (let given = 0; given < repeats; given++)
      pairs.push(`${parameter.name}=${encoded(random, valueOf(parameter))}`)
  }
  if (random.chance(0.08)) pairs.push(`${encoded(random, hostile())}=${encoded(random, hostile())}`)
  if (random.chance(0.02))
    pairs.push(random.pick(['utm_source=x', 'callback=f', 'limt=1', '&', '=', '?', 'after']))
  if (random.chance(0.1)) pairs.reverse()
  return pairs.join('&')
}

/** A path beside an operation's: its page, a slash, a letter in another case, an encoded letter, a suffix, another version. */
function strayPath(path: string, random: Random): string {
  const at = random.between(1, path.length - 1)
  const letter = path[at] ?? ''
  switch (random.below(14)) {
    case 0:
      return `${path}/`
    case 1:
      return `${path.slice(0, at)}${letter.toUpperCase()}${path.slice(at + 1)}${letter === letter.toUpperCase() ? 'x' : ''}`
    case 2:
      return `${path.slice(0, at)}%${letter.charCodeAt(0).toString(16).padStart(2, '0')}${path.slice(at + 1)}`
    case 3:
      return `${path}/${MARK}.css`
    case 4:
      return path.replace('/v1/', '/v2/')
    case 5:
      return `${path};x=1`
    case 6:
      return `/${path}`
    case 7:
      return `${path.slice(0, at)}${random.pick(['/../', '/./', '//', '\\', '%2f'])}${path.slice(at)}`
    default:
      // The page of the operation, which repeats more of its query in its links than an answer of the API.
      return path.replace('/api/v1/', '/')
  }
}

function validValue(schema: Schema, name: string, known: KnownValues, random: Random): string {
  const { items, oneOf, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema
  const segments = known.segments[name]
  if (segments !== undefined) return segments[random.below(segments.length)] ?? ''
  if (schema.enum !== undefined) return schema.enum[random.below(schema.enum.length)] ?? ''
  if (oneOf !== undefined) return timeOf(known, random)
  if (items !== undefined) {
    const count = random.chance(0.1) ? random.between(15, 22) : random.between(1, 4)
    return Array.from({ length: count }, () => validValue(items, name, known, random)).join(',')
  }
  if (schema.type === 'integer') {
    const near = random.pick([10, 100, known.head, 10_000])
    const drawn = random.between(Math.max(minimum, -near), Math.min(maximum, near))
    return String(
      random.weighted([
        [drawn, 20],
        [minimum, 2],
        [maximum, 1],
        [minimum - 1, 1],
        [maximum + 1, 1],
        [known.head, 2],
        [known.head + 1, 1],
      ]),
    )
  }
  if (name === 'Range') return `bytes=${random.below(2_000)}-${random.chance(0.5) ? random.below(5_000) : ''}`
  if (name === 'tx') return known.txs[random.below(known.txs.length)] ?? ''
  if (name === 'kind') return known.kinds[random.below(known.kinds.length)] ?? ''
  return random.pick(['daily', 'd', 'remix daily', 'weekly round 39', 'x y z', 'Harbour'])
}

/** A moment in and about the log, in one of the forms that a query may have. */
function timeOf({ atMs: { first, last } }: KnownValues, random: Random): string {
  const span = last - first
  const ms = Math.floor(first - span * 0.1 + random.next() * span * 1.2)
  const iso = new Date(ms).toISOString()
  return random.pick([
    iso,
    String(ms),
    iso.slice(0, 7),
    iso.slice(0, 10),
    `${iso.slice(0, 16)}Z`,
    `${iso.slice(0, 19)}+00:00`,
    iso.replace('T', ' '),
    iso.replace('.', ','),
    String(first),
    String(last),
    String(last + 1),
    '0',
  ])
}

/** Headers that proxies, browsers and attackers send. */
function headersOf(
  parameters: readonly ParameterDescription[],
  valueOf: ValueOf,
  random: Random,
  secrets: string[],
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  const hostile = (): string => {
    const { text, secrets: own } = random.chance(0.5) ? hostileAddress(random) : hostileText(random)
    secrets.push(...own)
    return latin(text)
  }
  for (const parameter of parameters)
    if (parameter.in === 'header' && random.chance(0.5)) headers[parameter.name] = latin(valueOf(parameter))
  const some = (probability: number, name: string, value: () => string): void => {
    if (random.chance(probability)) headers[name] = value()
  }
  some(0.3, 'Accept-Encoding', () =>
    random.pick(['gzip', 'br', 'zstd', 'gzip;q=0, *;q=1', 'identity;q=0', '*', MARK]),
  )
  some(0.1, 'Accept', () => random.pick(['text/html', 'text/csv', '*/*;q=0', 'application/x-ndjson', MARK]))
  some(0.1, 'If-None-Match', () =>
    random.pick(['*', `"${MARK}"`, 'W/"1", "2"', ',', `"${'x,'.repeat(2_000)}"`]),
  )
  some(0.05, 'Range', () =>
    random.pick(['bytes=0-9', 'bytes=-5', 'bytes=9-1', 'bytes=99999999-', `bytes=${MARK}`, 'lines=1-2']),
  )
  some(0.05, 'If-Range', () => random.pick(['"x"', `"${MARK}"`, 'Wed, 21 Oct 2026 07:28:00 GMT']))
  some(0.05, 'Last-Event-ID', hostile)
  some(0.05, 'Origin', hostile)
  some(0.05, 'X-Forwarded-For', hostile)
  some(0.05, 'Referer', hostile)
  some(0.05, 'User-Agent', hostile)
  some(0.05, 'Cookie', hostile)
  some(0.03, 'traceparent', hostile)
  some(0.03, 'X-HTTP-Method-Override', () => 'DELETE')
  some(0.03, 'X-Original-URL', () => `/${MARK}`)
  some(0.03, 'If-Modified-Since', hostile)
  some(0.03, 'Upgrade-Insecure-Requests', hostile)
  some(0.03, random.pick(['constructor', 'toString', '__proto__']), hostile)
  return headers
}

/** A text that a header line can have: Latin letters, no line ends, 2,000 at most. */
function latin(text: string): string {
  return text
    .replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/gu, '?')
    .trim()
    .slice(0, 2_000)
}
