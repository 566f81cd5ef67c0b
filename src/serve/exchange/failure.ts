import type { Problem } from '../../protocol/problem.ts'
import { respond } from '../http/respond.ts'
import { problemReply } from '../http/route.ts'
import { attempt } from './eventual.ts'
import { type Report, reportAnswer } from './answer-report.ts'
import type { Refuse } from './thread-question.ts'
import type { Visit } from './visit.ts'

const FAILED: Problem = {
  code: 'internal-error',
  detail: 'The server failed to answer. Its log has the error, with the id that is in Daybook-Request.',
}

/** Opens the end of a visit whose steps threw: the error is reported, and the caller gets a 500 if nothing was sent yet. */
export function openFailure(
  report: Report,
  refuse: Refuse,
): (visit: Visit, error: unknown, ms: number) => void {
  return (visit, error, ms) => {
    const { request, response, terms } = visit
    // A caller that leaves during an answer is not our failure.
    if (response.destroyed || request.socket.destroyed) return
    reportAnswer(report, visit, { status: 500, code: FAILED.code, ms, error })
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
