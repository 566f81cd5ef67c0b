import type { Problem } from '../../protocol/problem.ts'
import { respond } from '../http/respond.ts'
import { problemReply } from '../http/route.ts'
import { attempt } from './eventual.ts'
import type { Refuse } from './thread-question.ts'
import type { Visit } from './visit.ts'

/** An answer with a status of 500 or above. Contains nothing that was sent. */
type RequestFailure = Readonly<{
  /** Id of the request, which the answer has as `Daybook-Request`. */
  request: string
  /** Path of the route in the table; `none` when no route matched. */
  route: string
  status: number
  /** Error of ours; null for a refusal, such as that of a node that is not ready. */
  error: unknown
}>

/** Reports a failed request. */
export type Report = (failure: RequestFailure) => void

/** Reports an answer of this visit with a status of 500 or above. */
export function reportFailure(report: Report, { terms, found }: Visit, status: number, error: unknown): void {
  const request = terms.requestIds.format(terms.request)
  report({ request, route: found?.route.path ?? 'none', status, error })
}

const FAILED: Problem = {
  code: 'internal-error',
  detail: 'The answer could not be made. It is reported.',
}

/** Opens the end of a visit whose steps threw: the error is reported, and the caller gets a 500 if nothing was sent yet. */
export function openFailure(report: Report, refuse: Refuse): (visit: Visit, error: unknown) => void {
  return (visit, error) => {
    const { request, response, terms } = visit
    // A caller that leaves during an answer is not our failure.
    if (response.destroyed || request.socket.destroyed) return
    reportFailure(report, visit, 500, error)
    if (response.headersSent) {
      response.destroy()
      return
    }
    Promise.resolve(attempt(() => refuse(visit, FAILED)))
      // The error page may fail too.
      .catch(() => problemReply(FAILED))
      .then((reply) => respond(response, terms, reply))
      .catch(() => response.destroy())
  }
}
