import type { LogIdentity, LogReader } from '../../log/store/reader.ts'
import { assert } from '../../protocol/brand.ts'
import { isTableEndpoint, type TableEndpoint } from '../../protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { type Parsed, parsed, type Problem, PROBLEMS } from '../../protocol/problem.ts'
import { isRepeatable } from '../../serve/query/address.ts'
import type { ParsedQuery } from '../../serve/query/query.ts'
import {
  type AnswerRoute,
  problemReply,
  type Reply,
  type RouteRequest,
  type RouteValue,
} from '../../serve/http/route.ts'
import { type Api, fillPath, limitRows, PAGE_ROWS_MAX } from './answers.ts'
import type { Assets } from '../assets/assets.ts'
import { formRedirect } from './link-redirects.ts'
import { errorPage, HTML_TYPE, NOTHING_HERE, PAGE_HEADERS } from './error-page.ts'
import { formatPage } from './page-frame.ts'
import { html } from '../markup/html.ts'
import type { Parameter } from '../../protocol/parameters.ts'
import {
  asOfIn,
  formatReply,
  hasNextPage,
  metadataLink,
  type PageFormat,
  permalinkOf,
  suffixedOf,
} from './page-formats.ts'
import { type AnyPage, endpointPagePath, type View } from './page.ts'
import { canonicalBase, type Site } from '../markup/site.ts'
import { feedLink, viewBar } from './view-bar.ts'
import { THEME } from '../charts/chart-picture.ts'
import { renderParts } from './page-parts.ts'
import { CACHE_CONTROL } from '../../serve/http/headers.ts'

/** Settings and services that all pages share. */
export type Web = Readonly<{
  site: Site
  identity: LogIdentity
  api: Api
  assets: () => Promise<Assets>
  inOneSnapshot: LogReader['inOneSnapshot']
}>

/** Path of a page: its own, or that of its endpoint. */
export function pagePath(page: AnyPage): string {
  if (page.path !== undefined) return page.path
  assert(page.endpoint !== null, 'a page of no endpoint has a path of its own')
  return endpointPagePath(page.endpoint)
}

/** Formats that count against the API allowance. */
const DATA_FORMATS: ReadonlySet<PageFormat> = new Set(['.json', '.csv', '.metadata.json'])

/** Routes of a page: its path, and that path with the suffix of each format. */
export function pageRoutes(web: Web, page: AnyPage): readonly AnswerRoute[] {
  const path = pagePath(page)
  const parameters =
    page.endpoint === null ? (page.parameters ?? []) : web.api.route(page.endpoint).parameters
  const route = {
    path,
    parameters,
    allowance: 'pages',
    showsLog: page.isStatic !== true,
    handle: (ask: RouteRequest) => replyOf(web, page, ask, ''),
  } as const
  if (path === '/') return [route]
  return [
    route,
    ...formatsOf(page).map((format) => ({
      ...route,
      path: `${path}${format}`,
      parameters: parametersOf(parameters, format),
      allowance: DATA_FORMATS.has(format) ? ('api' as const) : ('pages' as const),
      handle: (ask: RouteRequest) =>
        replyOf(web, page, { ...withoutTheme(ask), path: ask.path.slice(0, -format.length) }, format),
    })),
  ]
}

/** Parameters under the suffix of a format. A `format` must agree with the suffix. */
function parametersOf(parameters: readonly Parameter[], format: PageFormat): readonly Parameter[] {
  if (format === '.svg') return [...parameters, THEME]
  if (format !== '.csv') return parameters
  return parameters.map((row) => (row.name === 'format' ? { ...row, form: CSV_ONLY } : row))
}

const CSV_ONLY: Parameter['form'] = { is: 'one-of', values: ['csv'] }

/** The request without the theme of a picture, which the API does not know. */
function withoutTheme(ask: RouteRequest): RouteRequest {
  const { query } = ask
  const format: ParsedQuery['format'] = (changes) => query.format({ ...changes, theme: undefined })
  return { ...ask, query: { ...query, format } }
}

function formatsOf(page: AnyPage): readonly Exclude<PageFormat, ''>[] {
  if (page.endpoint === null) return []
  return [
    '.json',
    '.metadata.json',
    ...(page.csv === undefined ? [] : (['.csv'] as const)),
    ...(page.svg === undefined ? [] : (['.svg'] as const)),
    ...(page.preview === undefined ? [] : (['.png'] as const)),
  ]
}

/** The page at one head, for all answers that it uses. */
async function replyOf(web: Web, page: AnyPage, ask: RouteRequest, format: PageFormat): Promise<Reply> {
  // The scripts may still be bundled, which takes seconds.
  const assets = await web.assets()
  return web.inOneSnapshot(() => madeReply(web, page, { assets, ask }, format))
}

async function madeReply(
  web: Web,
  page: AnyPage,
  { assets, ask }: Readonly<{ assets: Assets; ask: RouteRequest }>,
  format: PageFormat,
): Promise<Reply> {
  // A variable part of the path may be a wallet address, which no page repeats.
  if (!Object.values(ask.segments).every(isRepeatable))
    return refusal(web, assets, ask, NOTHING_HERE, format, null)
  const api =
    page.endpoint === null
      ? null
      : `${fillPath(ENDPOINT_PATHS[page.endpoint], ask.segments)}${ask.query.format()}`
  if (format === '.json' && api !== null) return { is: 'redirect', status: 308, location: api }
  // The CSV of a list is the API's, byte for byte. Exports serve the CSV of the whole log.
  if (format === '.csv' && isCsvOfApi(page)) return described(await web.api.csv(page.endpoint, ask), ask)
  // A page needs JSON, so the API itself answers a request for CSV.
  if (api !== null && ask.query.word('format') === 'csv') {
    return { is: 'redirect', status: 303, location: api }
  }
  // A page reads at most this many rows.
  if (format === '' && (ask.query.integer('limit') ?? 0) > PAGE_ROWS_MAX) {
    const location = `${ask.path}${ask.query.format({ limit: String(PAGE_ROWS_MAX) })}`
    return { is: 'redirect', status: 303, location }
  }
  const asked = limitRows(page, web.api, ask, format)
  const answered = page.endpoint === null ? NO_ANSWER : await web.api.value(page.endpoint, asked)
  if (!answered.ok) return refusal(web, assets, ask, answered.problem, format, api)
  const { value: answer } = answered.value
  const cut = asked !== ask && hasNextPage(answer)
  let rows = rowsIn(answer)
  let { keep } = answered.value
  const past = keep === 'immutable'
  const { path, segments, query, now } = ask
  const view: View = {
    site: web.site,
    identity: web.identity,
    assets,
    path,
    segments,
    query,
    now,
    api,
    cut,
    past,
    async ask(endpoint, other = {}) {
      const more = await web.api.ask(endpoint, ask, other)
      if (!more.ok) return more
      rows += rowsIn(more.value.answer)
      // A page with another changing answer is not immutable.
      if (more.value.keep !== 'immutable') keep = 'revalidate'
      return more
    },
  }
  if (format !== '') {
    const other = await formatReply(page, view, answer, format, answered.value.keep)
    if (DATA_FORMATS.has(format) || other.is !== 'body') return other
    return { ...other, rows, keep }
  }
  const location = (await page.redirect?.(view)) ?? null
  if (location !== null) return { is: 'redirect', status: 303, location }
  const body = await documentOf(page, view, answer)
  // The page is never immutable, even if its answer is, because a new version may render it differently.
  const headers = pageHeaders(web.site, api)
  return { is: 'body', keep: 'revalidate', etag: 'of-content', type: HTML_TYPE, body, headers, rows }
}

/** Answer of a page without an endpoint. */
const NO_ANSWER: Parsed<RouteValue> = parsed({ value: null, keep: 'revalidate' })

type CsvEndpoint = TableEndpoint | 'events'

function isCsvOfApi(page: AnyPage): page is AnyPage & Readonly<{ endpoint: CsvEndpoint }> {
  return page.endpoint !== null && (page.endpoint === 'events' || isTableEndpoint(page.endpoint))
}

/** Reply with a `Link` to its metadata, and the one to its next page. */
function described(reply: Reply, ask: RouteRequest): Reply {
  if (reply.is !== 'body') return reply
  const next = reply.headers?.['Link']
  const links = [metadataLink(ask), ...(next === undefined ? [] : [next])]
  return { ...reply, headers: { ...reply.headers, Link: links.join(', ') } }
}

/** Rows or buckets of an answer, which count against the allowance. */
function rowsIn(answer: unknown): number {
  const lists = Object.values(Object(answer)).filter((value) => Array.isArray(value))
  return lists.reduce((rows, list) => rows + list.length, 0)
}

async function documentOf(page: AnyPage, view: View, answer: unknown): Promise<string> {
  const title = await page.title(answer, view)
  const asOf = asOfIn(answer)
  const { heading, content, state, links } = await renderParts(page, view, answer)
  const permalink = permalinkOf(page, view, answer)
  const table = page.csv?.(answer, view) ?? null
  const head = html`${feedLink(view.site)}${page.head?.(answer, view) ?? null}`
  const svg = page.svg !== undefined
  const csv = { table, whole: page.wholeCsv === true }
  const bar = viewBar(view, answer, { title, asOf, permalink, csv, svg, links })
  return formatPage({
    ...view,
    title,
    description: page.description?.(answer, view) ?? null,
    asOf,
    // An event is immutable, but not a view of the past.
    past: view.past && asOf !== null,
    live: !view.past && (view.api !== null || page.live === true),
    canonical: `${canonicalBase(view.site)}${page.canonical ?? `${view.path}${view.query.format()}`}`,
    island: page.island ?? 'frame',
    head,
    preview: page.preview === undefined ? null : suffixedOf(permalink, '.png'),
    ...(heading === null ? {} : { heading }),
    body: html`${content} ${state} ${bar}`,
  })
}

function refusal(
  web: Web,
  assets: Assets,
  ask: RouteRequest,
  problem: Problem,
  format: PageFormat,
  api: string | null,
): Reply {
  if (format !== '') return problemReply(problem)
  // The API also refuses blank fields after it has checked the query, such as a search for no word.
  const redirect =
    PROBLEMS[problem.code].status === 400 ? formRedirect(ask.path, ask.query.format().slice(1)) : undefined
  if (redirect !== undefined) return redirect
  const { site, identity } = web
  return errorPage(problem, { site, identity, isPage: true, assets, path: ask.path, api, now: ask.now })
}

/** Seconds for which a CDN may serve an old page while it fetches a new one. */
const STALE_SECONDS = 10

/**
 * Headers of a page: its security policy, cache policy and links. `api` is the address of its JSON; null if there is
 * none.
 */
function pageHeaders(site: Site, api: string | null): Readonly<Record<string, string>> {
  return { ...PAGE_HEADERS, ...cacheHeader(site), ...linkHeader(site, api) }
}

/** Header that lets a CDN cache a page, if the operator has set a time. */
function cacheHeader({ pageCacheSeconds }: Site): Readonly<Record<string, string>> {
  if (pageCacheSeconds === null) return {}
  const shared = `s-maxage=${pageCacheSeconds}, stale-while-revalidate=${STALE_SECONDS}`
  return { 'Cache-Control': `${CACHE_CONTROL.revalidate}, ${shared}` }
}

function linkHeader({ licence }: Site, api: string | null): Readonly<Record<string, string>> {
  const links = [
    ...(api === null ? [] : [`<${api}>; rel="alternate"; type="application/json"`]),
    ...(licence === null ? [] : [`<${licence}>; rel="license"`]),
  ]
  return links.length === 0 ? {} : { Link: links.join(', ') }
}
