import type { Problem } from '../../protocol/problem.ts'
import { ALLOWED_METHODS, PREFLIGHT_HEADERS } from '../http/headers.ts'
import { judgeForm, judgeTarget } from '../http/request-form.ts'
import { problemReply, type Reply } from '../http/route.ts'
import type { NearPaths } from '../near/near-paths.ts'
import { type Step, type StepRefusal, stepRefusal, type Visit } from './visit.ts'

/** Refuses a malformed request and closes its connection. */
export function checkForm({ request, response }: Pick<Visit, 'request' | 'response'>): Reply | undefined {
  const verdict = judgeForm(request)
  if (verdict === 'fit') return undefined
  response.setHeader('Connection', 'close')
  if (typeof verdict !== 'string') return problemReply(verdict)
  const status = verdict === 'too-many-headers' ? 431 : 417
  return { is: 'bare', status, headers: { 'Cache-Control': 'no-store', 'Content-Length': '0' } }
}

/** Answers a CORS preflight, and refuses every method but GET and HEAD. */
export function checkMethod({ request }: Pick<Visit, 'request'>): Reply | undefined {
  const { method } = request
  if (method === 'GET' || method === 'HEAD') return undefined
  if (method === 'OPTIONS') return { is: 'bare', status: 204, headers: PREFLIGHT_HEADERS }
  const problem: Problem = { code: 'method-not-allowed', detail: `Allowed are ${ALLOWED_METHODS}.` }
  return problemReply(problem, { Allow: ALLOWED_METHODS })
}

/** Refuses a target that is too long. */
export function checkTarget({ request }: Pick<Visit, 'request'>): StepRefusal | undefined {
  const tooLong = judgeTarget(request)
  return tooLong === undefined ? undefined : stepRefusal(tooLong)
}

const NOTHING_HERE: Problem = { code: 'not-found', detail: 'There is nothing at this address.' }
const NO_ENDPOINT: Problem = {
  ...NOTHING_HERE,
  detail: 'There is nothing at this address: /api/v1/openapi.json and /llms.txt name every one.',
}

/** Opens the check that refuses a path that no route matches. It suggests the path that is probably meant. */
export function openRouteCheck(near: NearPaths): Step {
  return ({ found, underApi, path }) => {
    if (found !== undefined) return undefined
    const problem = underApi ? NO_ENDPOINT : NOTHING_HERE
    const meant = near(path)
    if (meant === undefined) return stepRefusal(problem)
    const slash = path.endsWith('/') ? ' An address has no slash at its end.' : ''
    return stepRefusal({
      ...problem,
      detail: `There is nothing at this address. Did you mean ${meant}?${slash}`,
    })
  }
}

/** Opens the check that refuses answers about the log while this node is not ready. */
export function openReadinessCheck(unready: () => Problem | undefined): Step {
  return ({ found, underApi }: Pick<Visit, 'found' | 'underApi'>) => {
    const shown = underApi ? found?.route.allowance !== 'none' : found?.route.showsLog === true
    const problem = shown ? unready() : undefined
    return problem === undefined ? undefined : stepRefusal(problem)
  }
}
