import type { LogIdentity } from '../../log/reader.ts'
import { assert } from '../../protocol/brand.ts'
import type { Parameter } from '../../protocol/parameters.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { AsOf } from '../../protocol/resources.ts'
import { JSON_TYPE } from '../projection.ts'
import type { Query } from '../query.ts'
import type { Ask, Keep, Reply, Route } from '../route.ts'
import { problemReply } from '../route.ts'
import type { Api, ApiReply } from './answers.ts'
import { fill, jsonOf, stamped } from './answers.ts'
import type { Assets } from './assets.ts'
import { THEMES } from './chart-theme.ts'
import { errorPage, HTML_TYPE, PAGE_HEADERS } from './error-page.ts'
import { formatPage } from './frame.ts'
import type { AnyPage, View } from './page.ts'
import type { Site } from './site.ts'
import { hostOf, NOTICE } from './site.ts'
import { CSV_TYPE, formatCsv } from './table.ts'
import { viewBar } from './view-bar.ts'

/** What every page is made with. */
export type Web = Readonly<{
  site: Site
  identity: LogIdentity
  api: Api
  assets: () => Promise<Assets>
  paths: ReadonlySet<string>
}>

/** The one thing that is said of a picture and not of what it shows. */
const THEME: Parameter = {
  name: 'theme',
  form: { is: 'one-of', values: THEMES },
  absent: 'auto',
  meaning: 'Light or dark paper, or as the system of its reader prefers',
  example: 'dark',
}

/** `/flows` for `/api/v1/flows`: the one rule of addresses. */
export function pathOf(page: AnyPage): string {
  if (page.path !== undefined) return page.path
  assert(page.endpoint !== null, 'a page of no endpoint has a path of its own')
  return ENDPOINT_PATHS[page.endpoint].slice('/api/v1'.length)
}

type Form = '' | '.json' | '.csv' | '.svg' | '.metadata.json'
const SUFFIX = /(?:\.json|\.csv|\.svg|\.metadata\.json)$/
const SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/** The routes of a page: itself, and the forms that stand behind a suffix of its path. */
export function pageRoutes(web: Web, page: AnyPage): readonly Route[] {
  const path = pathOf(page)
  const parameters =
    page.endpoint === null ? (page.parameters ?? []) : web.api.route(page.endpoint).parameters
  const route = (at: string, form: Form): Route => ({
    path: at,
    parameters,
    allowance: 'none',
    showsLog: page.endpoint !== null || page.further === true,
    handle: (ask) => replyOf(web, page, ask, form),
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
          return replyOf(web, page, { ...ask, path: cut(ask.path), segments }, form)
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
      handle: (ask: Ask) =>
        replyOf(web, page, { ...withoutTheme(ask), path: ask.path.slice(0, -form.length) }, form),
    })),
  ]
}

/** The colours of a picture are no part of what is asked of the API. */
function withoutTheme(ask: Ask): Ask {
  const { query } = ask
  const format: Query['format'] = (changes) => query.format({ ...changes, theme: undefined })
  return { ...ask, query: { ...query, format } }
}

function suffixOf(path: string): string {
  return /\.metadata\.json$/.exec(path)?.[0] ?? SUFFIX.exec(path)?.[0] ?? ''
}

function formsOf(page: AnyPage): readonly Exclude<Form, ''>[] {
  if (page.endpoint === null) return []
  return [
    '.json',
    '.metadata.json',
    ...(page.csv === undefined ? [] : (['.csv'] as const)),
    ...(page.svg === undefined ? [] : (['.svg'] as const)),
  ]
}

async function replyOf(web: Web, page: AnyPage, ask: Ask, form: Form): Promise<Reply> {
  const assets = await web.assets()
  const api =
    page.endpoint === null
      ? null
      : `${fill(ENDPOINT_PATHS[page.endpoint], ask.segments)}${ask.query.format()}`
  if (form === '.json' && api !== null) return { is: 'elsewhere', status: 308, location: api }
  // An answer that is no JSON is shown by nobody but the API.
  if (api !== null && ask.query.word('format') === 'csv') {
    return { is: 'elsewhere', status: 303, location: api }
  }
  const stamp = `${assets.stamp}${form}`
  // Of a page that asks further endpoints, its own endpoint's ETag says too little.
  const asked = page.further === true || form !== '' ? { ...ask, holds: () => false } : ask
  const reply: ApiReply =
    page.endpoint === null
      ? { is: 'answer', body: 'null', keep: 'revalidate', etag: 'of-content' }
      : await web.api.reply(page.endpoint, asked, stamp)
  if (reply.is === 'problem') return refusal(web, assets, ask, reply.problem, form, api)
  const headers = { ...PAGE_HEADERS, ...linkHeader(web, api) }
  if (reply.is === 'unchanged') {
    const etag = reply.etag === null ? null : stamped(reply.etag, stamp)
    return { is: 'unchanged', keep: reply.keep, etag, headers }
  }
  const { view, keeps } = viewOf(web, page, { assets, ask, api, reply })
  const answer: unknown = JSON.parse(view.json)
  if (form !== '') return otherForm(page, view, answer, form, reply)
  const location = (await page.elsewhere?.(view)) ?? null
  if (location !== null) return { is: 'elsewhere', status: 303, location }
  const body = await documentOf(page, view, answer)
  const alone = page.further !== true && reply.etag !== null && reply.etag !== 'of-content'
  const etag = alone ? stamped(reply.etag, stamp) : 'of-content'
  return { is: 'body', keep: leastOf(keeps), etag, type: HTML_TYPE, body, headers }
}

type Made = Readonly<{
  assets: Assets
  ask: Ask
  api: string | null
  reply: Extract<ApiReply, { is: 'answer' }>
}>

function viewOf(web: Web, page: AnyPage, { assets, ask, api, reply }: Made): { view: View; keeps: Keep[] } {
  const keeps: Keep[] = [reply.keep]
  const { site, identity, paths } = web
  const { path, segments, query } = ask
  const view: View = {
    site,
    identity,
    assets,
    paths,
    path,
    segments,
    query,
    api,
    json: jsonOf(reply.body),
    past: reply.keep === 'immutable',
    host: hostOf(ask),
    async ask(endpoint, asked = {}) {
      assert(page.further === true, 'a page that asks further endpoints says so')
      const answered = await web.api.ask(endpoint, ask, asked)
      keeps.push(answered.ok ? answered.value.keep : 'revalidate')
      return answered
    },
  }
  return { view, keeps }
}

function leastOf(keeps: readonly Keep[]): Keep {
  return keeps.every((keep) => keep === 'immutable') ? 'immutable' : 'revalidate'
}

async function documentOf(page: AnyPage, view: View, answer: unknown): Promise<string> {
  const title = page.title(answer, view)
  const asOf = asOfIn(answer)
  const content = await page.render(answer, view)
  const permalink = page.permalink?.(answer, view) ?? `${view.path}${view.query.format()}`
  const table = page.csv?.(answer, view) ?? null
  const head = page.head?.(answer, view)
  const bar = viewBar(view, { title, asOf, permalink, table, svg: page.svg !== undefined })
  return formatPage({
    ...view,
    simulated: view.identity.simulated,
    title,
    asOf,
    // An event is not a view of the past: it is as it is.
    past: view.past && asOf !== null,
    live: !view.past && (view.api !== null || content.markup.includes(' data-live-rows')),
    canonical: permalink,
    island: page.island ?? 'frame',
    ...(head === undefined ? {} : { head }),
    body: { markup: `${content.markup}\n${bar?.markup ?? ''}` },
  })
}

/** The `asOf` of an answer that has one: every projection. */
function asOfIn(answer: unknown): AsOf | null {
  const known: { asOf?: AsOf } | null = Object(answer) === answer ? Object(answer) : null
  return known?.asOf ?? null
}

function otherForm(
  page: AnyPage,
  view: View,
  answer: unknown,
  form: Exclude<Form, ''>,
  { keep }: Made['reply'],
): Reply {
  const kept = { is: 'body', keep, etag: 'of-content' } as const
  const name = `daybook${view.path.replaceAll('/', '-')}`
  const asOf = asOfIn(answer)
  const upTo = asOf === null ? '' : `-event-${asOf.seq}`
  const table = page.csv?.(answer, view) ?? null
  if (form === '.csv' && table !== null) {
    const headers = {
      'Content-Disposition': `attachment; filename="${name}${upTo}.csv"`,
      Link: `<${view.path}.metadata.json${view.query.format()}>; rel="describedby"`,
    }
    return { ...kept, type: CSV_TYPE, body: formatCsv(table), headers }
  }
  if (form === '.svg' && page.svg !== undefined) {
    const headers = { 'Content-Security-Policy': SVG_POLICY }
    return { ...kept, type: 'image/svg+xml', body: page.svg(answer, view).markup, headers }
  }
  const { site, identity, api, query, path } = view
  const csv = table === null ? null : `${path}.csv${query.format()}`
  const body = JSON.stringify({
    title: page.title(answer, view),
    page: page.permalink?.(answer, view) ?? `${path}${query.format()}`,
    api,
    csv,
    asOf,
    columns: table?.columns ?? null,
    rows: table?.rows.length ?? null,
    complete: table === null ? null : table.next === null,
    next: table?.next ?? null,
    token: site.token,
    origin: identity.origin,
    log: identity.id,
    simulated: identity.simulated,
    licence: site.licence,
    contact: site.contact,
    notice: NOTICE,
  })
  return { ...kept, type: JSON_TYPE, body }
}

function refusal(
  web: Web,
  assets: Assets,
  ask: Ask,
  problem: Problem,
  form: Form,
  api: string | null,
): Reply {
  if (form !== '') return problemReply(problem)
  const { site, identity, paths } = web
  return errorPage(problem, { site, identity, paths, assets, path: ask.path, api })
}

function linkHeader({ site }: Web, api: string | null): Readonly<Record<string, string>> {
  const links = [
    ...(api === null ? [] : [`<${api}>; rel="alternate"; type="application/json"`]),
    ...(site.licence === null ? [] : [`<${site.licence}>; rel="license"`]),
  ]
  return links.length === 0 ? {} : { Link: links.join(', ') }
}
