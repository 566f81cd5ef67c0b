import type { ServerResponse } from 'node:http'
import { assert } from '../../protocol/brand.ts'
import type { Problem } from '../../protocol/problem.ts'
import { names } from '../http/etag.ts'
import type { HeaderList } from '../http/headers.ts'
import { type ParsedQuery, parseQuery } from '../query/query.ts'
import type { AnswerRoute, RouteRequest, Reply } from '../http/route.ts'
import type { Found, Router } from '../http/router.ts'
import type { Eventual } from './eventual.ts'
import type { AskElsewhere, Present } from './thread-question.ts'
import { header, type Step, stepRefusal, type Visit } from './visit.ts'

/** Opens the last step: it parses the query and asks the route, here if the answer is brief, else in another thread. */
export function openRouteAnswer(askElsewhere: AskElsewhere, present: () => Present, router: Router): Step {
  return (visit) => {
    const { found, rawQuery } = visit
    assert(found !== undefined, 'a path without a route is refused before')
    const query = parseQuery(rawQuery, found.route.parameters)
    if (!query.ok) return stepRefusal(withFile(query.problem, visit, router))
    return answer(visit, found, query.value)
  }

  function answer(visit: Visit, found: Found, query: ParsedQuery): Eventual<Reply> {
    const { request, response, terms, caller } = visit
    const { route } = found
    const streamed = route.streaming === true ? route : wholePartOf(route, query, request)
    if (streamed !== undefined) {
      // A stream writes its answer itself.
      setHeaders(response, [...terms.common, ...terms.allowance])
      return streamed.handle({ ...askOf(visit, found, query), caller, request, response })
    }
    assert(route.streaming !== true, 'a stream is answered above')
    return isBrief(route, query) ? route.handle(askOf(visit, found, query)) : askElsewhere(visit, null)
  }

  function askOf({ request, terms, path }: Visit, { segments }: Found, query: ParsedQuery): RouteRequest {
    return {
      method: request.method === 'HEAD' ? 'HEAD' : 'GET',
      path,
      segments,
      query,
      ...present(),
      header: (name) => header(request, name),
      holds: (etag) => names(terms.ifNoneMatch, etag),
    }
  }
}

/** The part that answers a whole CSV file. Without chunks a cut file would look whole, so HTTP/1.0 gets a page. */
function wholePartOf(
  { whole }: AnswerRoute,
  query: ParsedQuery,
  { httpVersion }: Visit['request'],
): AnswerRoute['whole'] {
  return httpVersion !== '1.0' && whole?.takes(query) === true ? whole : undefined
}

const API = '/api/v1'
const FORMAT = /(?:^|&)format=(csv|json|ics)(?:&|$)/

/** The problem of a page's unknown `format`, with the path of the file that is probably meant: `/payouts?format=csv`. */
function withFile(problem: Problem, { path, rawQuery, found: asked }: Visit, router: Router): Problem {
  if (asked?.route.parameters.some(({ name }) => name === 'format') === true) return problem
  const ending = problem.code === 'unknown-parameter' ? FORMAT.exec(rawQuery)?.[1] : undefined
  // The files of pages are outside the API.
  const page = path.startsWith(API) ? path.slice(API.length) : path
  // A variable part takes any ending: `/api/v1/events/5.csv` leads back to `/api/v1/events/{seq}`.
  const file = [path, page]
    .map((at) => (ending === undefined ? undefined : router(`${at}.${ending}`)))
    .find((found) => found?.route.path.endsWith(`.${ending}`))
  // The path in the table, because a part of the sent one may be a wallet address.
  return file === undefined
    ? problem
    : { ...problem, detail: `${problem.detail} Did you mean ${file.route.path}?` }
}

function isBrief(route: AnswerRoute, query: ParsedQuery): boolean {
  return typeof route.brief === 'function' ? route.brief(query) : route.brief === true
}

function setHeaders(response: ServerResponse, headers: HeaderList): void {
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '')
}
