import { preferredType } from './accept.ts'
import type { Route } from './route.ts'

const TYPES = ['application/json', 'text/csv'] as const

/** Whether an `Accept` header asks for a list as CSV. Without one, or when it prefers neither, a list is JSON. */
export function prefersCsv(accept: string | undefined): boolean {
  return preferredType(accept, TYPES) === 'text/csv'
}

/** Whether a request leaves the format of a list to `Accept`: the list has several, and the query names none. */
export function leavesFormat({ parameters }: Route, rawQuery: string): boolean {
  return parameters.some(({ name }) => name === 'format') && !new URLSearchParams(rawQuery).has('format')
}
