import type { LogIdentity } from '../../log/store/reader.ts'
import { type ParameterFault, type Problem, PROBLEMS } from '../../protocol/problem.ts'
import { ceilTo, formatAt, MINUTE_MS, type Ms, msOf, SECOND_MS } from '../../protocol/moment.ts'
import { parseQueryTime } from '../../protocol/query-time.ts'
import { isRepeatable } from '../../serve/query/address.ts'
import { httpStatusOf } from '../../serve/http/problem-document.ts'
import type { Reply } from '../../serve/http/route.ts'
import type { Assets } from '../assets/assets.ts'
import { SEARCH_FORM } from './navigation.ts'
import { formatPage, PAGE_POLICY } from './page-frame.ts'
import { countHtml } from '../markup/amount-html.ts'
import { type Html, html } from '../markup/html.ts'
import { momentOf } from '../markup/moment-html.ts'
import { prose } from '../markup/prose.ts'
import type { Site } from '../markup/site.ts'

type ErrorContext = Readonly<{
  site: Site
  identity: LogIdentity
  assets: Assets
  /** Whether a page has the path, so that its parameters are at fault. */
  isPage: boolean
  /** Requested path. The page does not repeat it if it may hold a wallet address. */
  path: string
  /** API address of the same request, if it has the same problem; otherwise null. */
  api: string | null
  /** Title; the problem's own title if absent. */
  title?: string
  /** Time of the request. */
  now: Ms
}>

/** Security headers of every page. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': PAGE_POLICY,
  'Referrer-Policy': 'no-referrer',
}

export const HTML_TYPE = 'text/html; charset=utf-8'

/** Maximum characters of a query that the page's links repeat. */
const REPEATED_CHARS_MAX = 500

/** Problem of a path without a page or file. */
export const NOTHING_HERE: Problem = { code: 'not-found', detail: 'There is nothing at this address.' }

/** Error page of a problem: the API's status, title and detail, and links. */
export function errorPage(problem: Problem, context: ErrorContext): Reply {
  const path = isRepeatable(context.path) ? context.path : ''
  const api = problem.code === 'address-forbidden' ? null : repeatable(context.api)
  const refused = { ...context, path, api }
  const { title = PROBLEMS[problem.code].title } = refused
  const head = problem.members?.['head']
  const body = formatPage({
    ...refused,
    title,
    asOf: null,
    past: false,
    // An event after the head may be published in a moment.
    live: typeof head === 'number',
    canonical: null,
    island: 'frame',
    head: html`${refreshOf(problem)}`,
    body: html`${goesOn(problem, refused)} ${detailOf(problem, title)} ${faults(problem, path)}
    ${typeof head === 'number' ? headLine(problem, head) : null} ${wideEnough(problem, refused)}
    ${upToNow(problem, refused)} ${httpStatusOf(problem) === 404 ? SEARCH_FORM : null}
    ${onward(problem, refused)}`,
  })
  const { retryAfterSeconds } = problem
  const retry = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
  return {
    is: 'body',
    status: httpStatusOf(problem),
    keep: 'no-store',
    etag: null,
    type: HTML_TYPE,
    body,
    headers: { ...PAGE_HEADERS, ...retry },
  }
}

/** Time until a caller may ask again; null if the problem is permanent. */
function goesOn({ code, retryAfterSeconds }: Problem, { now }: ErrorContext): Html | null {
  if (retryAfterSeconds === undefined) return null
  const at = formatAt(msOf(now + retryAfterSeconds * SECOND_MS))
  const what = code === 'rate-limited' ? 'Pages are available again' : 'Try again'
  return html`<p class="lead">${what} in <b>${retryAfterSeconds} s</b>, at ${momentOf(at)}.</p>
    <p>This page then loads by itself.</p>`
}

/** Detail of a problem, unless its title or the line about the newest event says the same. */
function detailOf({ detail, members }: Problem, title: string): Html | null {
  const said = [`${title}.`, `The newest event is ${String(members?.['head'])}.`]
  // A path of the API helps programs. The page has buttons instead.
  const sentences = detail.split(/(?<=\.) /).filter((one) => !said.includes(one) && !one.includes('/api/'))
  return sentences.length === 0 ? null : html`<p class="lead">${prose(sentences.join(' '))}</p>`
}

/** Links onward from an error. */
function onward({ code }: Problem, { api, path, isPage }: ErrorContext): Html {
  return html`<ul class="buttons">
    ${isPage && path !== '' && PROBLEMS[code].status !== 404 ? html`<li><a class="button" href="${path}">The same page without parameters</a></li>` : null}
    ${code === 'contest-not-found' ? html`<li><a class="button" href="/contests">All contests</a></li>` : null}
    <li><a class="button" href="/">Start page</a></li>
    ${api === null ? null : html`<li><a class="button" href="${api}">JSON of this error</a></li>`}
  </ul>`
}

/** Meta element that reloads the page when the problem says to retry. */
function refreshOf({ retryAfterSeconds }: Problem): Html | null {
  return retryAfterSeconds === undefined
    ? null
    : html`<meta http-equiv="refresh" content="${retryAfterSeconds}" />`
}

/** The API's address, or null if it is long or may hold a wallet address. */
function repeatable(api: string | null): string | null {
  const query = api?.split('?')[1] ?? ''
  return api !== null && query.length <= REPEATED_CHARS_MAX && isRepeatable(api) ? api : null
}

/** List of the faults, with links to the allowed values. */
function faults({ code, errors = [], detail }: Problem, path: string): Html | null {
  // An unknown parameter has no allowed values.
  const choicesOf = ({ allowed = [] }: ParameterFault): readonly string[] =>
    code === 'unknown-parameter' || path === '' ? [] : allowed
  // The page already shows the detail, so that fault is listed only for its allowed values.
  const different = [...new Map(errors.map((fault) => [fault.message, fault])).values()].filter(
    (fault) => fault.message !== detail || choicesOf(fault).length > 0,
  )
  if (different.length === 0) return null
  return html`<ul>
    ${different.map((fault) => {
      const { parameter, message } = fault
      return html`<li>
        ${message === detail ? null : prose(message)}
        ${choicesOf(fault).map((value) => html` <a href="${path}?${parameter}=${encodeURIComponent(value)}">${value}</a>`)}
      </li>`
    })}
  </ul>`
}

function headLine({ code }: Problem, head: number): Html {
  const reason = code === 'event-not-found' ? 'Events after it are not published yet.' : ''
  return html`<p id="ahead" data-head="${head}">
    The newest event is <a href="/events/${head}">${countHtml(head)}</a>. ${reason}
  </p>`
}

/** Link to the same range in wider buckets; null unless there were too many buckets. */
function wideEnough({ members }: Problem, { path, api }: ErrorContext): Html | null {
  const bucket = members?.['bucket']
  if (typeof bucket !== 'string' || api === null) return null
  const query = new URLSearchParams(api.split('?')[1])
  const asked = query.get('bucket') ?? ''
  query.set('bucket', bucket)
  return html`<p>
    <a href="${path}?${query.toString()}">The same range by ${bucket}</a> ·
    <a href="${path}?bucket=${asked}">The latest by ${asked}</a>
  </p>`
}

/** Link to the same range up to now; null unless only its end is in the future. */
function upToNow({ code, errors = [] }: Problem, { path, api, now }: ErrorContext): Html | null {
  const isEnd = errors.every(({ parameter }) => parameter === 'to')
  if (code !== 'in-the-future' || !isEnd || api === null) return null
  const query = new URLSearchParams(api.split('?')[1])
  const from = parseQueryTime(query.get('from') ?? '')
  if ('ms' in from && from.ms >= now) return null
  query.set('to', formatAt(ceilTo(now, MINUTE_MS)))
  return html`<p><a href="${path}?${decodeURIComponent(query.toString())}">The same range up to now</a></p>`
}
