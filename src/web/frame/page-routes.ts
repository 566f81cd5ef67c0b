import type { LogIdentity } from '../../log/store/reader.ts'
import { assert } from '../../protocol/brand.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Ms } from '../../protocol/moment.ts'
import { isRepeatable } from '../../serve/http/address.ts'
import { etagOf } from '../../serve/http/etag.ts'
import type { ParsedQuery } from '../../serve/http/query.ts'
import type { AnswerRoute, RouteRequest, Reply } from '../../serve/http/route.ts'
import { problemReply } from '../../serve/http/route.ts'
import type { Api, ApiReply } from './answers.ts'
import { fill, jsonText } from './answers.ts'
import type { Assets } from '../assets/assets.ts'
import { THEME } from '../markup/chart-theme.ts'
import { errorPage, HTML_TYPE, PAGE_HEADERS } from './error-page.ts'
import { feedLink } from './feed-link.ts'
import { formatPage } from './page-frame.ts'
import { html } from '../markup/html.ts'
import type { PageCache } from './page-cache.ts'
import type { PageForm } from './page-forms.ts'
import { asOfIn, goesOn, otherForm, permalinkOf, pictureOf } from './page-forms.ts'
import type { AnyPage, View } from './page.ts'
import { endpointPagePath } from './page.ts'
import { ROWS_ASKED_MAX, rowsAsked } from './page-rows.ts'
import type { Site } from '../markup/site.ts'
import { viewBar } from './view-bar.ts'

/** What every page is made with. */
export type Web = Readonly<{
  site: Site
  identity: LogIdentity
  api: Api
  assets: () => Promise<Assets>
  paths: ReadonlySet<string>
  pages: PageCache
  /** Another one whenever an answer of the API may be another: with each event, and each minute. */
  present(now: Ms): string
}>

/** Path of a page: its own, or that of its endpoint. */
export function pagePath(page: AnyPage): string {
  if (page.path !== undefined) return page.path
  assert(page.endpoint !== null, 'a page of no endpoint has a path of its own')
  return endpointPagePath(page.endpoint)
}

const NOTHING_HERE: Problem = { code: 'not-found', detail: 'There is nothing at this address.' }

const SUFFIX = /(?:\.json|\.csv|\.svg|\.metadata\.json)$/

/** What is data in another form costs what the data costs. */
const DATA_FORMS: ReadonlySet<PageForm> = new Set(['.csv', '.metadata.json'])

/** The routes of a page: itself, and the forms that stand behind a suffix of its path. */
export function pageRoutes(web: Web, page: AnyPage): readonly AnswerRoute[] {
  const path = pagePath(page)
  const parameters =
    page.endpoint === null ? (page.parameters ?? []) : web.api.route(page.endpoint).parameters
  const route = (at: string, form: PageForm): AnswerRoute => ({
    path: at,
    parameters,
    allowance: DATA_FORMS.has(form) ? 'api' : 'pages',
    showsLog: page.endpoint !== null || page.further === true,
    handle: (ask) => keptReplyOf(web, page, ask, form),
  })
  const forms = formsOf(page)
  // A variable part takes the suffix with it: such an address is told apart when it is asked for.
  if (path.endsWith('}')) {
    return [
      {
        ...route(path, ''),
        handle(ask) {
          const form = forms.find((one) => one === suffixOf(ask.path)) ?? ''
          const cut = (text: string): string => (form === '' ? text : text.slice(0, -form.length))
          const last = /\{(\w+)\}$/.exec(path)?.[1] ?? ''
          const segments = { ...ask.segments, [last]: cut(ask.segments[last] ?? '') }
          return keptReplyOf(web, page, { ...ask, path: cut(ask.path), segments }, form)
        },
      },
    ]
  }
  if (path === '/') return [route(path, '')]
  return [
    route(path, ''),
    ...forms.map((form) => ({
      ...route(`${path}${form}`, form),
      parameters: form === '.svg' ? [...parameters, THEME] : parameters,
      handle: (ask: RouteRequest) =>
        keptReplyOf(web, page, { ...withoutTheme(ask), path: ask.path.slice(0, -form.length) }, form),
    })),
  ]
}

/** The colours of a picture are no part of what is asked of the API. */
function withoutTheme(ask: RouteRequest): RouteRequest {
  const { query } = ask
  const format: ParsedQuery['format'] = (changes) => query.format({ ...changes, theme: undefined })
  return { ...ask, query: { ...query, format } }
}

function suffixOf(path: string): string {
  return /\.metadata\.json$/.exec(path)?.[0] ?? SUFFIX.exec(path)?.[0] ?? ''
}

function formsOf(page: AnyPage): readonly Exclude<PageForm, ''>[] {
  if (page.endpoint === null) return []
  return [
    '.json',
    '.metadata.json',
    ...(page.csv === undefined ? [] : (['.csv'] as const)),
    ...(page.svg === undefined ? [] : (['.svg'] as const)),
  ]
}

/** A page that many have open is asked for by all of them at each event: it is written once. */
function keptReplyOf(web: Web, page: AnyPage, ask: RouteRequest, form: PageForm): Promise<Reply> {
  if (form !== '') return replyOf(web, page, ask, form)
  const key = `${ask.path}${ask.query.format()}`
  return web.pages.reply(key, web.present(ask.now), () => replyOf(web, page, ask, form))
}

async function replyOf(web: Web, page: AnyPage, ask: RouteRequest, form: PageForm): Promise<Reply> {
  const assets = await web.assets()
  // What no event or contest is called by may be a wallet address: it is repeated nowhere.
  if (!isRepeatable(ask.path)) return refusal(web, assets, ask, NOTHING_HERE, form, null)
  const api =
    page.endpoint === null
      ? null
      : `${fill(ENDPOINT_PATHS[page.endpoint], ask.segments)}${ask.query.format()}`
  if (form === '.json' && api !== null) return { is: 'elsewhere', status: 308, location: api }
  // An answer that is no JSON is shown by nobody but the API.
  if (api !== null && ask.query.word('format') === 'csv') {
    return { is: 'elsewhere', status: 303, location: api }
  }
  // A page shows the first rows only: of more, what is computed would be thrown away.
  if (form === '' && (ask.query.integer('limit') ?? 0) > ROWS_ASKED_MAX) {
    const location = `${ask.path}${ask.query.format({ limit: String(ROWS_ASKED_MAX) })}`
    return { is: 'elsewhere', status: 303, location }
  }
  const asked = rowsAsked(page, web.api, ask, form)
  const reply: ApiReply =
    page.endpoint === null
      ? { is: 'answer', body: 'null', keep: 'revalidate' }
      : await web.api.reply(page.endpoint, asked)
  if (reply.is === 'problem') return refusal(web, assets, ask, reply.problem, form, api)
  const json = jsonText(reply.body)
  const answer: unknown = JSON.parse(json)
  const cut = asked !== ask && goesOn(answer)
  let rows = rowsIn(answer)
  const read = (further: unknown): void => {
    rows += rowsIn(further)
  }
  const view = viewOf(web, page, { assets, ask, read, api, json, cut, past: reply.keep === 'immutable' })
  if (form !== '') {
    const other = await otherForm(page, view, answer, form, reply.keep)
    return DATA_FORMS.has(form) || other.is !== 'body' ? other : { ...other, rows }
  }
  const location = (await page.elsewhere?.(view)) ?? null
  if (location !== null) return { is: 'elsewhere', status: 303, location }
  const body = Buffer.from(await documentOf(page, view, answer))
  // What an answer says may be settled for ever; how a page says it is not.
  const headers = { ...PAGE_HEADERS, ...linkHeader(web, api) }
  return { is: 'body', keep: 'revalidate', etag: etagOf(body), type: HTML_TYPE, body, headers, rows }
}

/** Rows or buckets of an answer, by which a page is charged. */
function rowsIn(answer: unknown): number {
  const lists = Object.values(Object(answer)).filter((value) => Array.isArray(value))
  return lists.reduce((rows, list) => rows + list.length, 0)
}

type Made = Readonly<{
  assets: Assets
  ask: RouteRequest
  /** Told every further answer that the page reads. */
  read(answer: unknown): void
}> &
  Pick<View, 'api' | 'json' | 'cut' | 'past'>

function viewOf(web: Web, page: AnyPage, { assets, ask, read, ...made }: Made): View {
  const { site, identity, paths } = web
  const { path, segments, query } = ask
  return {
    site,
    identity,
    assets,
    paths,
    path,
    segments,
    query,
    ...made,
    now: ask.now,
    async ask(endpoint, asked = {}) {
      assert(page.further === true, 'a page that asks further endpoints says so')
      const further = await web.api.ask(endpoint, ask, asked)
      if (further.ok) read(further.value.value)
      return further
    },
  }
}

async function documentOf(page: AnyPage, view: View, answer: unknown): Promise<string> {
  const title = page.title(answer, view)
  const asOf = asOfIn(answer)
  const content = await page.render(answer, view)
  const permalink = permalinkOf(page, view, answer)
  const table = page.csv?.(answer, view) ?? null
  const news = page.news === true ? feedLink(view.site) : null
  const head = html`${news}${page.head?.(answer, view) ?? null}`
  const svg = page.svg !== undefined
  const pictured = page.pictured?.(answer, view) ?? permalink
  const embedded = [...(svg ? [pictureOf(title, pictured)] : []), ...(page.embedded?.(answer, view) ?? [])]
  const bar = viewBar(view, { title, asOf, permalink, table, svg, embedded })
  return formatPage({
    ...view,
    title,
    description: page.description?.(answer, view) ?? null,
    asOf,
    // An event is not a view of the past: it is as it is.
    past: view.past && asOf !== null,
    live: !view.past && (view.api !== null || page.live === true),
    canonical: page.canonical ?? `${view.path}${view.query.format()}`,
    island: page.island ?? 'frame',
    head,
    body: { markup: `${content.markup}\n${bar?.markup ?? ''}` },
  })
}

function refusal(
  web: Web,
  assets: Assets,
  ask: RouteRequest,
  problem: Problem,
  form: PageForm,
  api: string | null,
): Reply {
  if (form !== '') return problemReply(problem)
  const { site, identity, paths } = web
  return errorPage(problem, { site, identity, paths, assets, path: ask.path, api, now: ask.now })
}

function linkHeader({ site }: Web, api: string | null): Readonly<Record<string, string>> {
  const links = [
    ...(api === null ? [] : [`<${api}>; rel="alternate"; type="application/json"`]),
    ...(site.licence === null ? [] : [`<${site.licence}>; rel="license"`]),
  ]
  return links.length === 0 ? {} : { Link: links.join(', ') }
}
