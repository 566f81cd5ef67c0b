import type { LogIdentity } from '../../log/reader.ts'
import type { Problem } from '../../protocol/problem.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import { statusOf } from '../problem-document.ts'
import type { Reply } from '../route.ts'
import type { Assets } from './assets.ts'
import { formatPage, PAGE_POLICY } from './frame.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Site } from './site.ts'

/** Where a refusal is shown, and how. */
export type Refused = Readonly<{
  site: Site
  identity: LogIdentity
  assets: Assets
  paths: ReadonlySet<string>
  path: string
  /** The same question to the API, which answers with the same problem; null where there is none. */
  api: string | null
}>

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': PAGE_POLICY,
  'Referrer-Policy': 'no-referrer',
}

export const HTML_TYPE = 'text/html; charset=utf-8'

/** A refusal for people: the API's status, title and detail, and the ways on. */
export function errorPage(problem: Problem, refused: Refused): Reply {
  const { title } = PROBLEMS[problem.code]
  const head = problem.members?.['head']
  const { retryAfterSeconds } = problem
  const body = formatPage({
    ...refused,
    simulated: refused.identity.simulated,
    title,
    asOf: null,
    past: false,
    // What is not there may be published in a moment.
    live: typeof head === 'number',
    canonical: null,
    island: 'frame',
    // Not before its time: sooner, it would only be refused again.
    ...(retryAfterSeconds === undefined
      ? {}
      : { head: html`<meta http-equiv="refresh" content="${retryAfterSeconds}" />` }),
    body: html`<p>${problem.detail}</p>
      ${faults(problem, refused.path)} ${typeof head === 'number' ? headLine(problem, head) : null}
      ${wideEnough(problem, refused)}
      ${retryAfterSeconds === undefined ? null : html`<p>Try again in ${retryAfterSeconds} s.</p>`}
      <p>
        ${refused.api === null ? null : html`<a href="${refused.api}">JSON of this error</a> · `}
        ${refused.paths.has(refused.path) ? html`<a href="${refused.path}">This page without a question</a> · ` : null}
        <a href="/">Start page</a>
      </p>`,
  })
  return {
    is: 'body',
    status: statusOf(problem),
    keep: 'no-store',
    etag: null,
    type: HTML_TYPE,
    body,
    headers: {
      ...PAGE_HEADERS,
      ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
    },
  }
}

/** What is wrong with each parameter, and what it may be, as links. */
function faults({ errors = [] }: Problem, path: string): Html | null {
  if (errors.length === 0) return null
  return html`<ul>
    ${errors.map(
      ({ parameter, message, allowed = [] }) =>
        html`<li>
          ${message}
          ${allowed.map((value) => html` <a href="${path}?${parameter}=${encodeURIComponent(value)}">${value}</a>`)}
        </li>`,
    )}
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
  query.set('bucket', bucket)
  return html`<p><a href="${path}?${query.toString()}">The same range by ${bucket}</a></p>`
}
