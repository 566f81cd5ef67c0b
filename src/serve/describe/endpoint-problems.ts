import { keysOf } from '../../protocol/brand.ts'
import type { Endpoint } from '../../protocol/endpoint.ts'
import { ENDPOINTS } from '../../protocol/endpoints.ts'
import type { ProblemCode } from '../../protocol/problem.ts'
import { PROBLEMS } from '../../protocol/problem.ts'

/** The problems that any endpoint may answer with. */
export const ANYWHERE: readonly ProblemCode[] = [
  'bad-request',
  'unknown-parameter',
  'address-forbidden',
  'method-not-allowed',
  'uri-too-long',
  'rate-limited',
  'internal-error',
  'not-ready',
]

/** What a parameter may be refused for, by its name. */
const OF_PARAMETERS: Readonly<Record<string, readonly ProblemCode[]>> = {
  from: ['invalid-range'],
  to: ['invalid-range'],
  bucket: ['in-the-future', 'too-many-buckets'],
  tz: ['in-the-future', 'range-too-long'],
  at: ['in-the-future'],
}

/** What the variable part of a path may be refused for, by its name. */
const OF_PLACES: Readonly<Record<string, ProblemCode>> = {
  id: 'contest-not-found',
  seq: 'event-not-found',
  file: 'month-not-found',
}

const OF_ENDPOINTS: Readonly<Record<string, readonly ProblemCode[]>> = {
  events: ['cursor-ahead'],
  stream: ['cursor-ahead', 'too-many-streams', 'stream-capacity'],
  archiveFile: ['range-not-satisfiable'],
}

/** What an endpoint may refuse besides what any may: by status, then in the order of the table of problems. */
export function problemsOf({ id, path, parameters }: Endpoint): readonly ProblemCode[] {
  const places = [...path.matchAll(/\{(\w+)/g)].map(([, name = '']) => name)
  const codes = new Set<ProblemCode>([
    ...(parameters.length === 0 ? [] : (['invalid-parameter', 'repeated-parameter'] as const)),
    ...parameters.flatMap(({ name }) => OF_PARAMETERS[name] ?? []),
    ...places.map((name) => OF_PLACES[name] ?? 'not-found'),
    ...(OF_ENDPOINTS[id] ?? []),
  ])
  return [...codes].toSorted((one, other) => PROBLEMS[one].status - PROBLEMS[other].status)
}

/** Every problem of the public API, in the order of the table of problems. */
export const PUBLIC_CODES: readonly ProblemCode[] = publicCodes()

function publicCodes(): readonly ProblemCode[] {
  const codes = new Set([...ANYWHERE, ...ENDPOINTS.flatMap(problemsOf)])
  return keysOf(PROBLEMS).filter((code) => codes.has(code))
}
