import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderList } from './http/headers.ts'
import type { ReadyReplies } from './http/ready-replies.ts'
import { hasBody, partsOf } from './http/request-form.ts'
import type { Tallies, RequestTally } from './metrics/request-tally.ts'
import type { ReplyTerms } from './http/respond.ts'
import type { Found, Router } from './http/router.ts'

/** One request on its way to its answer. */
export type Visit = Readonly<{
  request: IncomingMessage
  response: ServerResponse
  caller: string
  path: string
  rawQuery: string
  /** Undefined where no route is. */
  found: Found | undefined
  underApi: boolean
  tally: RequestTally
  terms: VisitTerms
}>

/** The terms of an answer that is being decided: the allowance is told of once it has been asked. */
type VisitTerms = ReplyTerms & { allowance: HeaderList }

/** What visits are opened with. */
export type VisitSettings = Readonly<{
  router: Router
  tallies: Tallies
  common: HeaderList
  problemBase: string
  /** Where answers that never change are kept as they are written. */
  ready: ReadyReplies
}>

const API = /^\/api\/v1(?:[/?]|$)/

/** Reads what of a request decides its answer. */
export function openVisit(
  { router, tallies, common, problemBase, ready }: VisitSettings,
  request: IncomingMessage,
  response: ServerResponse,
  caller: string,
): Visit {
  if (hasBody(request)) response.setHeader('Connection', 'close')
  const { target, path, rawQuery } = partsOf(request.url ?? '')
  const found = router(path)
  const underApi = API.test(target)
  const tally = tallies(found?.route.path ?? 'none')
  // What others may be refused for is looked at for each, and so nothing else is held ready.
  const holdable = found?.route.allowance === 'api' && underApi
  const terms: VisitTerms = {
    common,
    allowance: [],
    head: request.method === 'HEAD',
    ifNoneMatch: header(request, 'if-none-match'),
    acceptEncoding: header(request, 'accept-encoding'),
    problemBase,
    ...(holdable ? { remember: (form, made) => ready.set(target, form, { tally, ...made }) } : {}),
  }
  return { request, response, caller, path, rawQuery, found, underApi, tally, terms }
}

/** One header of a request; several of the same name are joined by a comma. */
export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
