import { PROBLEMS } from '../../protocol/problem.ts'
import { llmsRoute } from '../describe/llms-text.ts'
import { JSON_TYPE } from '../http/projection.ts'
import type { AnswerRoute } from '../http/route.ts'
import { problemReply } from '../http/route.ts'
import { PROBLEM_BASE } from '../http/problem-document.ts'

/** Routes outside the API that are no pages: `/llms.txt`, and the explanations that a problem's `type` links to. */
export function rootRoutes(): readonly AnswerRoute[] {
  return [llmsRoute(), problemExplanations()]
}

function problemExplanations(): AnswerRoute {
  const bodies = new Map(
    Object.entries(PROBLEMS).map(([code, { status, title }]) => [
      code,
      JSON.stringify({ code, status, title }),
    ]),
  )
  return {
    path: `${PROBLEM_BASE}/{code}`,
    parameters: [],
    allowance: 'none',
    brief: true,
    handle(ask) {
      const body = bodies.get(ask.segments['code'] ?? '')
      if (body === undefined) {
        return problemReply({ code: 'not-found', detail: 'No problem has this code.' })
      }
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type: JSON_TYPE, body }
    },
  }
}
