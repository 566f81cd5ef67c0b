import type { Problem } from '../../protocol/problem.ts'
import { PROBLEMS } from '../../protocol/problem.ts'

/** Where the problems are explained, relative to any address of the service: `type` is this, `/` and the code. */
export const PROBLEM_BASE = '/api/problems'

/** The RFC 9457 document of a problem. It holds nothing of what was sent. */
export function formatProblem(problem: Problem, base: string): string {
  const { status, title } = PROBLEMS[problem.code]
  return JSON.stringify({
    type: `${base}/${problem.code}`,
    title,
    status,
    detail: problem.detail,
    code: problem.code,
    ...problem.members,
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
  })
}

/** The HTTP status of a problem. */
export function httpStatusOf(problem: Problem): number {
  return PROBLEMS[problem.code].status
}
