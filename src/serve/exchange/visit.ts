import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LogIdentity } from '../../log/store/reader.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Decision } from '../allowance/allowance.ts'
import {
  commonHeaders,
  type HeaderList,
  headerList,
  licenceLink,
  sameOriginHeaders,
} from '../http/headers.ts'
import type { ReadyReplies } from '../http/ready-replies.ts'
import { leavesFormat, prefersCsv } from '../http/accept.ts'
import { hasBody, partsOf } from '../http/request-form.ts'
import type { RequestIds } from '../http/request-ids.ts'
import type { ReplyTerms } from '../http/respond.ts'
import type { Reply } from '../http/route.ts'
import type { Found, Router } from '../http/router.ts'
import type { Tallies, RequestTally } from '../metrics/request-tally.ts'
import type { Eventual } from './eventual.ts'

/** One request on its way to its answer. */
export type Visit = Readonly<{
  request: IncomingMessage
  response: ServerResponse
  caller: string
  path: string
  rawQuery: string
  /** Undefined when no route matches. */
  found: Found | undefined
  underApi: boolean
  /** Decision of the allowance, if it has been asked already. */
  decision: Decision | undefined
  tally: RequestTally
  terms: VisitTerms
}>

/** ReplyTerms of an answer; the allowance step fills in `allowance`. */
type VisitTerms = ReplyTerms & { allowance: HeaderList }

/** A problem that a step has found. The API answers it as JSON, everything else as a page. */
export type StepRefusal = Readonly<{ is: 'refused'; problem: Problem }>

/** One step of a visit. A reply or refusal ends the visit; undefined continues with the next step. */
export type Step = (visit: Visit) => Eventual<Reply | StepRefusal | undefined>

/** Opens a visit; `decision` is that of the allowance, if it has been asked already. */
type OpenVisit = (
  request: IncomingMessage,
  response: ServerResponse,
  caller: string,
  decision: Decision | undefined,
) => Visit

type VisitParts = Readonly<{
  identity: LogIdentity
  mirrorOf: string | null
  /** URL of the licence of the published log, which every answer of the API links; null if none. */
  licence: string | null
  requestIds: RequestIds
  router: Router
  problemBase: string
  metrics: Readonly<{ tallies: Tallies }>
}>

/** All paths below `/api/`, so that another version than `/api/v1` is refused as the API refuses. `/api` is a page. */
const API = /^\/api\//

/** Opens the reading of requests: a visit has the parts that decide its answer. */
export function openVisits(
  { identity, mirrorOf, licence, requestIds, router, problemBase, metrics: { tallies } }: VisitParts,
  ready: ReadyReplies,
): OpenVisit {
  const common = headerList([], commonHeaders(identity, mirrorOf))
  const commonOfApi = headerList(common, licenceLink(licence))
  const commonOfLists = headerList(commonOfApi, { Vary: 'Accept' })
  const commonOfOwn = sameOriginHeaders(common)
  return (request, response, caller, decision) => {
    // Node drops bytes behind a request that wants another protocol, so nothing may follow it.
    if (hasBody(request) || request.headers.upgrade !== undefined) response.setHeader('Connection', 'close')
    const { target, path, rawQuery } = partsOf(request.url ?? '')
    const found = router(path)
    const underApi = API.test(target)
    const isByAccept = found !== undefined && underApi && leavesFormat(found.route, rawQuery)
    const isCsv = isByAccept && prefersCsv(header(request, 'accept'))
    const tally = tallies(found?.route.path ?? 'none')
    // The ready step asks the API allowance only, so answers under another allowance are not kept.
    const holdable = found?.route.allowance === 'api' && underApi && !isCsv
    const terms: VisitTerms = {
      common: isByAccept
        ? commonOfLists
        : underApi
          ? commonOfApi
          : found?.route.sameOrigin === true
            ? commonOfOwn
            : common,
      revalidated: isCsv,
      request: requestIds.next(),
      requestIds,
      allowance: [],
      head: request.method === 'HEAD',
      ifNoneMatch: header(request, 'if-none-match'),
      acceptEncoding: header(request, 'accept-encoding'),
      problemBase,
      ...(holdable ? { remember: (form, made) => ready.set(target, form, { tally, ...made }) } : {}),
    }
    // From here on it is the request that names the format itself.
    const asked = isCsv ? [rawQuery, 'format=csv'].filter((part) => part !== '').join('&') : rawQuery
    return { request, response, caller, path, rawQuery: asked, found, underApi, decision, tally, terms }
  }
}

/** One header of a request; several of the same name are joined by a comma. */
export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** A refusal with this problem. */
export function stepRefusal(problem: Problem): StepRefusal {
  return { is: 'refused', problem }
}
