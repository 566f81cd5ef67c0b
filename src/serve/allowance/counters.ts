import { SECOND_MS } from '../../protocol/moment.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Decision, Policy } from './allowance.ts'
import type { Route } from '../http/route.ts'

/** The allowances a request may cost one of. */
export type AllowanceScope = Exclude<Route['allowance'], 'none'>

/** One allowance as an exchange asks it: here, or at a store that several machines share. */
export type Counter = Readonly<{
  policy: Policy
  /** Counts one request of a caller; or `units` more for one that was allowed, as far as the allowance goes. */
  decide(caller: string, units?: number): Decision | Promise<Decision>
}>

export type Counters = Readonly<Record<AllowanceScope, Counter>>

/** What a request costs where no route is: what one costs that is there, a tile, an answer or a page. */
export function scopeOfNothing(path: string, underApi: boolean): AllowanceScope {
  if (!underApi) return 'pages'
  return path.startsWith('/api/v1/log/tile/') ? 'tiles' : 'api'
}

/** Rows or buckets that a page reads for one unit of its caller's allowance. */
const ROWS_PER_UNIT = 1_000

/** What a page costs beyond its one unit. */
export function extraCost(rows: number | undefined): number {
  return Math.floor((rows ?? 0) / ROWS_PER_UNIT)
}

/** What is said to a caller who has used up the allowance of this policy. */
export function usedUp({ name, requests, windowMs }: Policy, { retryAfterSeconds }: Decision): Problem {
  const live =
    name === 'pages' ? 'An open page keeps itself up to date.' : 'Live data comes by /api/v1/stream.'
  const detail = `${requests} requests are allowed in any ${windowMs / SECOND_MS} seconds. ${live}`
  return { code: 'rate-limited', detail, retryAfterSeconds }
}
