import { SECOND_MS } from '../../protocol/moment.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Decision, Policy } from './allowance.ts'
import type { Route } from '../http/route.ts'

/** Allowances that a request may count against. */
export type AllowanceScope = Exclude<Route['allowance'], 'none'>

/** One allowance, on the clock of its thread. */
export type Counter = Readonly<{
  policy: Policy
  /** Counts one request of a caller; or `units` more for an allowed one, as far as the allowance goes. */
  decide(caller: string, units?: number): Decision
}>

export type Counters = Readonly<Record<AllowanceScope, Counter>>

/** Allowance charged when no route matches: the one of tiles, of the API, or of pages. */
export function scopeOfNothing(path: string, underApi: boolean): AllowanceScope {
  if (!underApi) return 'pages'
  return path.startsWith('/api/v1/log/tile/') ? 'tiles' : 'api'
}

/** Rows or buckets that a page reads for one unit of its caller's allowance. */
const ROWS_PER_UNIT = 1_000

/** Units that a page costs beyond its first one. */
export function extraCost(rows: number | undefined): number {
  return Math.floor((rows ?? 0) / ROWS_PER_UNIT)
}

/** Problem for a caller that has used up the allowance of this policy. */
export function usedUp({ name, requests, windowMs }: Policy, { retryAfterSeconds }: Decision): Problem {
  const live = name === 'pages' ? 'An open page updates itself.' : 'Live data comes by /api/v1/stream.'
  const detail = `${requests} requests are allowed in any ${windowMs / SECOND_MS} seconds. ${live}`
  return { code: 'rate-limited', detail, retryAfterSeconds }
}
