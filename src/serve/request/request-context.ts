import type { RequestIds } from '../http/problem-document.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LogIdentity } from '../../log/store/reader.ts'
import type { Decision } from '../allowance/allowance.ts'
import { prefersCsv } from '../http/accept.ts'
import {
  commonHeaders,
  type HeaderList,
  headerList,
  licenceLink,
  sameOriginHeaders,
} from '../http/headers.ts'
import type { Found, Router } from '../http/router.ts'
import { hasBody, partsOf, type TargetParts } from './request-form.ts'
import type { ReplyTerms } from './respond.ts'
import type { Metrics, RequestTally } from '../metrics/metrics.ts'

/** Request context: the parsed and routed request, from here to its answer. */
export type RequestContext = Readonly<{
  request: IncomingMessage
  response: ServerResponse
  caller: string
  /** Path and query, each alone and together. `Accept: text/csv` adds `format=csv` to the query. */
  path: string
  rawQuery: string
  target: string
  /** Undefined when no route matches. */
  found: Found | undefined
  underApi: boolean
  /** Decision of the allowance, if it was checked already. */
  decision: Decision | undefined
  tally: RequestTally
  terms: ContextTerms
}>

/** Terms of the reply. The checks and the route fill in some of them. */
type ContextTerms = ReplyTerms & { allowance: HeaderList; onWritten?: ReplyTerms['onWritten'] }

/**
 * Opens the context of a request from the parts of its target. `decision` is that of the allowance, if it was checked.
 */
type OpenContext = (
  request: IncomingMessage,
  response: ServerResponse,
  caller: string,
  known: Readonly<{ sent: TargetParts; decision: Decision | undefined }>,
) => RequestContext

/** Parts of a serving thread that the context of a request uses. */
export type ContextParts = Readonly<{
  identity: LogIdentity
  /** Address of the service that this mirror follows; null on a node that is no mirror. */
  mirrorOf: string | null
  /** URL of the licence of the published log, which every answer of the API links; null if none. */
  licence: string | null
  requestIds: RequestIds
  router: Router
  problemBase: string
  metrics: Pick<Metrics, 'tallies'>
}>

/** All paths below `/api/`, so that other versions than `/api/v1` get a refusal of the API. `/api` is a page. */
const API = /^\/api\//

/** Opens the reading of requests. */
export function openContexts(parts: ContextParts): OpenContext {
  const { identity, mirrorOf, licence, requestIds, router, problemBase, metrics } = parts
  const common = headerList([], commonHeaders(identity, mirrorOf))
  const commonOfApi = headerList(common, licenceLink(licence))
  const commonOfLists = headerList(commonOfApi, { Vary: 'Accept' })
  const commonOfOwn = sameOriginHeaders(common)
  return (request, response, caller, { sent, decision }) => {
    // Node drops bytes after a request for another protocol, so no request may follow it.
    if (hasBody(request) || request.headers.upgrade !== undefined) response.setHeader('Connection', 'close')
    const { path } = sent
    const found = router(path)
    const underApi = API.test(path)
    // A list has several formats. `Accept` decides when the query has no `format`.
    const isList = found?.route.parameters.some(({ name }) => name === 'format') === true
    const isByAccept = underApi && isList && !new URLSearchParams(sent.rawQuery).has('format')
    const isCsv = isByAccept && prefersCsv(header(request, 'accept'))
    // From here on the query has the format.
    const { rawQuery, target } = isCsv
      ? partsOf(`${sent.target}${sent.rawQuery === '' ? '?' : '&'}format=csv`)
      : sent
    const commonOfPages = found?.route.sameOrigin === true ? commonOfOwn : common
    const terms: ContextTerms = {
      common: isByAccept ? commonOfLists : underApi ? commonOfApi : commonOfPages,
      revalidated: isCsv,
      requestNumber: requestIds.next(),
      requestIds,
      allowance: [],
      head: request.method === 'HEAD',
      ifNoneMatch: header(request, 'if-none-match'),
      acceptEncoding: header(request, 'accept-encoding'),
      problemBase,
    }
    const tally = metrics.tallies(found?.route.path ?? 'none')
    return { request, response, caller, path, rawQuery, target, found, underApi, decision, tally, terms }
  }
}

/** One header of a request. Several of the same name are joined by commas. */
export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
