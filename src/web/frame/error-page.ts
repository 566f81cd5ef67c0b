import type { LogIdentity } from '../../log/store/reader.ts'
import type { ParameterFault, Problem } from '../../protocol/problem.ts'
import type { Ms } from '../../protocol/moment.ts'
import { ceilTo, formatAt, MINUTE_MS, parseQueryTime } from '../../protocol/moment.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import { isRepeatable } from '../../serve/http/address.ts'
import { httpStatusOf } from '../../serve/http/problem-document.ts'
import type { Reply } from '../../serve/http/route.ts'
import type { Assets } from '../assets/assets.ts'
import { formatPage, PAGE_POLICY } from './page-frame.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import { prose } from '../markup/prose.ts'
import type { Site } from '../markup/site.ts'

/** Where a refusal is shown, and how. */
export type Refused = Readonly<{
  site: Site
  identity: LogIdentity
  assets: Assets
  paths: ReadonlySet<string>
  /** As it was asked for: what of it holds a wallet address is repeated nowhere. */
  path: string
  /** The same question to the API, which answers with the same problem; null where there is none. */
  api: string | null
  /** What it is called, where the problem's own title says too little. */
  title?: string
  /** When it was asked, where that was asked of the API. */
  now?: Ms
}>

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': PAGE_POLICY,
  'Referrer-Policy': 'no-referrer',
}

export const HTML_TYPE = 'text/html; charset=utf-8'

/** Characters of a query that the page's links repeat: it would be many times as long as a longer one. */
const REPEATED_CHARS_MAX = 500
/** Faults that are told one by one. */
const FAULTS_MAX = 8

/** A refusal for people: the API's status, title and detail, and the ways on. */
export function errorPage(problem: Problem, asked: Refused): Reply {
  const refused = { ...asked, path: isRepeatable(asked.path) ? asked.path : '', api: repeatable(asked.api) }
  const { title = PROBLEMS[problem.code].title } = refused
  const head = problem.members?.['head']
  const { retryAfterSeconds } = problem
  const body = formatPage({
    ...refused,
    title,
    asOf: null,
    past: false,
    // What is not there may be published in a moment.
    live: typeof head === 'number',
    canonical: null,
    island: 'frame',
    head: html`${refreshOf(problem)}`,
    body: html`<p>${prose(problem.detail)}</p>
      ${faults(problem, refused.path)} ${typeof head === 'number' ? headLine(problem, head) : null}
      ${wideEnough(problem, refused)} ${upToNow(problem, refused)}
      ${retryAfterSeconds === undefined ? null : html`<p>Try again in ${retryAfterSeconds} s.</p>`}
      <p>
        ${refused.api === null ? null : html`<a href="${refused.api}">JSON of this error</a> · `}
        ${refused.paths.has(refused.path) ? html`<a href="${refused.path}">The same page without parameters</a> · ` : null}
        ${problem.code === 'contest-not-found' ? html`<a href="/contests">All contests</a> · ` : null}
        <a href="/">Start page</a>
      </p>`,
  })
  return refusalReply(problem, body, PAGE_HEADERS)
}

/** Not before its time: sooner, it would only be refused again. */
export function refreshOf({ retryAfterSeconds }: Problem): Html | null {
  return retryAfterSeconds === undefined
    ? null
    : html`<meta http-equiv="refresh" content="${retryAfterSeconds}" />`
}

/** A refusal as a document: the status that the API gives, and when to ask again. */
export function refusalReply(
  problem: Problem,
  body: string,
  headers: Readonly<Record<string, string>>,
): Reply {
  const { retryAfterSeconds } = problem
  const retry = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
  return {
    is: 'body',
    status: httpStatusOf(problem),
    keep: 'no-store',
    etag: null,
    type: HTML_TYPE,
    body,
    headers: { ...headers, ...retry },
  }
}

/** The same question to the API, unless it is long or holds a wallet address. */
function repeatable(api: string | null): string | null {
  const query = api?.split('?')[1] ?? ''
  return api !== null && query.length <= REPEATED_CHARS_MAX && isRepeatable(api) ? api : null
}

/** What is wrong with each parameter, and what it may be, as links. */
function faults({ code, errors = [], detail }: Problem, path: string): Html | null {
  // A name that is not known takes no value.
  const choicesOf = ({ allowed = [] }: ParameterFault): readonly string[] =>
    code === 'unknown-parameter' || path === '' ? [] : allowed
  // What has been said is not said again, unless what is allowed instead is new.
  const different = [...new Map(errors.map((fault) => [fault.message, fault])).values()].filter(
    (fault) => fault.message !== detail || choicesOf(fault).length > 0,
  )
  if (different.length === 0) return null
  const further = different.length - FAULTS_MAX
  return html`<ul>
    ${different.slice(0, FAULTS_MAX).map((fault) => {
      const { parameter, message } = fault
      return html`<li>
        ${message === detail ? null : prose(message)}
        ${choicesOf(fault).map((value) => html` <a href="${path}?${parameter}=${encodeURIComponent(value)}">${value}</a>`)}
      </li>`
    })}
    ${further > 0 ? html`<li>${further} more.</li>` : null}
  </ul>`
}

function headLine({ code }: Problem, head: number): Html {
  const reason = code === 'event-not-found' ? 'Events after it are not published yet.' : ''
  return html`<p id="ahead" data-head="${head}">
    The newest event is <a href="/events/${head}">#${head}</a>. ${reason}
  </p>`
}

/** The same range in buckets that are wide enough, where that is all that was wrong. */
function wideEnough({ members }: Problem, { path, api }: Refused): Html | null {
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

/** The same range without what of it has not come, where only its end lies in the future. */
function upToNow({ code, errors = [] }: Problem, { path, api, now }: Refused): Html | null {
  const isEnd = errors.every(({ parameter }) => parameter === 'to')
  if (code !== 'in-the-future' || !isEnd || api === null || now === undefined) return null
  const query = new URLSearchParams(api.split('?')[1])
  const from = parseQueryTime(query.get('from') ?? '')
  if ('ms' in from && from.ms >= now) return null
  query.set('to', formatAt(ceilTo(now, MINUTE_MS)))
  return html`<p><a href="${path}?${decodeURIComponent(query.toString())}">The same range up to now</a></p>`
}
