import { keysOf } from '../../protocol/brand.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import { llmsRoute } from '../describe/llms-text.ts'
import { PROBLEM_CURES } from '../describe/problem-cures.ts'
import { preferredType } from '../http/accept.ts'
import { JSON_TYPE } from '../http/headers.ts'
import { type AnswerRoute, problemReply } from '../http/route.ts'
import { ERRORS_PATH, PROBLEM_BASE } from '../http/problem-document.ts'

/** Routes outside the API that are not pages: `/llms.txt`, and the explanations that a problem's `type` links to. */
export function rootRoutes(): readonly AnswerRoute[] {
  return [llmsRoute(), problemExplanations()]
}

/** Explanation of a problem as JSON. A browser gets the page `/errors` at the code instead. */
function problemExplanations(): AnswerRoute {
  const bodies = new Map<string, string>(
    keysOf(PROBLEMS).map((code) => {
      const { status, title } = PROBLEMS[code]
      return [code, JSON.stringify({ code, status, title, ...PROBLEM_CURES[code] })]
    }),
  )
  return {
    path: `${PROBLEM_BASE}/{code}`,
    parameters: [],
    allowance: 'none',
    brief: true,
    handle(ask) {
      const code = ask.segments['code'] ?? ''
      const body = bodies.get(code)
      if (body === undefined) {
        return problemReply({ code: 'not-found', detail: 'No problem has this code.' })
      }
      if (preferredType(ask.header('accept'), ['application/json', 'text/html']) === 'text/html') {
        return { is: 'redirect', status: 303, location: `${ERRORS_PATH}#${code}` }
      }
      const headers = { Vary: 'Accept' }
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type: JSON_TYPE, body, headers }
    },
  }
}
