import { type Problem, PROBLEMS } from '../../protocol/problem.ts'

/** Path below which problems are explained. The `type` of a problem is this path, `/` and the code. */
export const PROBLEM_BASE = '/api/problems'

/** Page that explains all problems. The id of each element is the problem's code. */
export const ERRORS_PATH = '/errors'

/** RFC 9457 document of a problem. Repeats nothing of the request. */
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

/** HTTP status of a problem. */
export function httpStatusOf(problem: Problem): number {
  return PROBLEMS[problem.code].status
}

/** Ids of a thread's requests. A request has a number; its id is formatted only for a problem or a log line. */
export type RequestIds = Readonly<{ next(): number; format(requestNumber: number): string }>

/** Opens the ids of a thread. `prefix` distinguishes threads and starts of the service. */
export function openRequestIds(prefix: string): RequestIds {
  let last = 0
  return {
    next() {
      last += 1
      return last
    },
    format: (requestNumber) => `${prefix}-${requestNumber.toString(36)}`,
  }
}
