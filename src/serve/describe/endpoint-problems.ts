import { keysOf } from '../../protocol/brand.ts'
import {
  type Caching,
  type Endpoint,
  ENDPOINTS,
  type ParameterName,
} from '../../protocol/endpoints/endpoints.ts'
import { type PathPart, pathParts } from '../../protocol/paths.ts'
import { type ProblemCode, PROBLEMS } from '../../protocol/problem.ts'
import { STREAMS_PER_CALLER } from '../allowance/caller-slots.ts'

/** Problems of every endpoint. */
export const COMMON_PROBLEMS: readonly ProblemCode[] = [
  'bad-request',
  'unknown-parameter',
  'address-forbidden',
  'method-not-allowed',
  'precondition-failed',
  'uri-too-long',
  'rate-limited',
  'internal-error',
  'not-ready',
]

/** Problems of a parameter besides the common ones. */
const OF_PARAMETERS: Readonly<Partial<Record<ParameterName, readonly ProblemCode[]>>> = {
  from: ['in-the-future'],
  to: ['invalid-range'],
  bucket: ['in-the-future', 'too-many-buckets'],
  tz: ['in-the-future', 'range-too-long'],
  at: ['in-the-future'],
}

/** Problems of a variable part of a path that names nothing, or nothing on this node yet. */
const OF_PATH_PARTS: Readonly<Record<PathPart, readonly ProblemCode[]>> = {
  id: ['contest-not-found'],
  seq: ['event-not-found', 'behind'],
  file: ['month-not-found'],
  level: ['not-found'],
  tile: ['not-found', 'behind'],
  type: ['not-found'],
}

/** Problems of an endpoint besides the common ones, by status, then in the order of `PROBLEMS`. */
export function problemsOf({ path, parameters, problems = [] }: Endpoint): readonly ProblemCode[] {
  const codes = new Set<ProblemCode>([
    ...(parameters.length === 0 ? [] : (['invalid-parameter', 'repeated-parameter'] as const)),
    ...parameters.flatMap(({ name }) => ofParameter(name)),
    ...pathParts(path).flatMap((part) => OF_PATH_PARTS[part]),
    ...problems,
  ])
  return [...codes].toSorted((one, other) => PROBLEMS[one].status - PROBLEMS[other].status)
}

function ofParameter(name: string): readonly ProblemCode[] {
  const codes: Readonly<Partial<Record<string, readonly ProblemCode[]>>> = OF_PARAMETERS
  return codes[name] ?? []
}

/** Problems of the public API, in the order of `PROBLEMS`. */
export const PUBLIC_PROBLEMS: readonly ProblemCode[] = publicCodes()

function publicCodes(): readonly ProblemCode[] {
  const codes = new Set([...COMMON_PROBLEMS, ...ENDPOINTS.flatMap(problemsOf)])
  return keysOf(PROBLEMS).filter((code) => codes.has(code))
}

const CACHING_TERMS: Readonly<Record<Exclude<Caching, 'by-range'>, string>> = {
  immutable: 'immutable',
  revalidate: 'revalidate with `ETag`',
  build: 'revalidate with `ETag`',
  never: 'not cached',
}

/** Time for which an endpoint's answer may be cached, as Markdown. */
export function cachingOf({ caching, settled = '' }: Endpoint): string {
  return caching === 'by-range'
    ? `${CACHING_TERMS.immutable} ${settled}; else ${CACHING_TERMS.revalidate}`
    : CACHING_TERMS[caching]
}

/** Cost of a request, and the allowance that it counts against, as Markdown. */
export function costOf({ id, allowance }: Endpoint): string {
  if (allowance === 'tiles') return 'one request of a separate allowance'
  if (id === 'stream') {
    return `one request when it is opened, none for its events; ${STREAMS_PER_CALLER} may be open at once`
  }
  return 'one request'
}
