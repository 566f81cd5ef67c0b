import type { LogIdentity } from '../../log/store/reader.ts'
import type { Answers } from '../../protocol/endpoints/endpoints.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Parameter } from '../../protocol/parameters.ts'
import { ENDPOINT_PATHS, type EndpointId } from '../../protocol/paths.ts'
import type { Parsed } from '../../protocol/problem.ts'
import type { ParsedQuery } from '../../serve/query/query.ts'
import type { Assets, Island } from '../assets/assets.ts'
import type { Html } from '../markup/html.ts'
import type { Site } from '../markup/site.ts'
import type { AnswerTable } from '../../serve/http/csv.ts'
import type { LinkPreview } from '../preview/link-preview.ts'

/** Context in which a page is rendered, in addition to its answer. */
export type View = Readonly<{
  site: Site
  identity: LogIdentity
  assets: Assets
  /** Path of the page without a suffix, and its variable parts. */
  path: string
  segments: Readonly<Record<string, string>>
  query: ParsedQuery
  /** API address of the page's answer; null on a page without an endpoint. */
  api: string | null
  /** Whether the page read fewer rows than the answer at `api` has. */
  cut: boolean
  /** Whether the answer is immutable: a past view. */
  past: boolean
  /** Time of the request. A page is rendered again at least every minute. */
  now: Ms
  /** Asks another endpoint. */
  ask: AskApi
}>

/** Request to an endpoint: the variable parts of its path, and a query without `?`. */
export type ApiRequest = Readonly<{ segments?: Readonly<Record<string, string>>; query?: string }>

/** Asks an endpoint of the API. */
type AskApi = <Id extends EndpointId>(
  endpoint: Id,
  asked?: ApiRequest,
) => Promise<Parsed<LinkedAnswer<Answers[Id]>>>

/** Answer of the API with its address, which the page links. */
export type LinkedAnswer<Answer> = Readonly<{ address: string; answer: Answer }>

/**
 * Page of an endpoint. It has the endpoint's path without `/api/v1`, the same query and the same answer, and shows
 * nothing that the answer lacks. The suffixes `.json`, `.csv`, `.svg`, `.png` and `.metadata.json` give the same in
 * other formats.
 */
export type Page<Answer> = Readonly<{
  /** Its endpoint; null for a page that is not in the API. */
  endpoint: EndpointId | null
  /** Its path, if that is not the endpoint's. */
  path?: string
  /** Query parameters of a page without an endpoint. */
  parameters?: readonly Parameter[]
  /** Address for citation, with all defaults written out; its own path and query if absent. */
  permalink?(answer: Answer, view: View): string
  /** Canonical path of a page that must not repeat its query; its own path and query if absent. */
  canonical?: string
  /** Heading, and first part of the document's title. */
  title(answer: Answer, view: View): string | Promise<string>
  /** Link-preview text; the page's first text if absent or null. */
  description?(answer: Answer, view: View): string | null
  /** Top of the page with its `h1`; the title as `h1` if absent. */
  heading?(answer: Answer, view: View): Html | Promise<Html>
  /** Content below the heading. The line with the state (`page-parts.ts`) is added at its end if it has none. */
  render(answer: Answer, view: View): Html | Promise<Html>
  /** Maximum rows that the page asks of its endpoint, with a query. */
  rowsMax?: number | ((query: ParsedQuery) => number)
  /** Maximum rows that its picture asks of its endpoint. */
  pictureRowsMax?: number
  /** Whether its CSV without `limit` has all rows, even those that its answer lacks. */
  wholeCsv?: boolean
  /** Whether it shows nothing of the log, so that it is served before the log is ready. */
  isStatic?: true
  /** Whether a page without an endpoint updates itself in the browser. Pages of endpoints do, except past views. */
  live?: boolean
  /** Redirect target; null renders this page. */
  redirect?(view: View): Promise<string | null>
  /** More elements for the document's head. */
  head?(answer: Answer, view: View): Html
  /** Its script; `frame` if absent. */
  island?: Island
  csv?(answer: Answer, view: View): AnswerTable
  svg?(answer: Answer, view: View): Html | Promise<Html>
  /** Link-preview picture at `.png`; that of the summary if absent. */
  preview?(answer: Answer, view: View): LinkPreview | Promise<LinkPreview>
  /** Maximum rows that its link-preview picture asks of its endpoint. */
  previewRowsMax?: number
}>

/** The page of one endpoint, with that endpoint's answer. */
export type EndpointPage<Id extends EndpointId> = Page<Answers[Id]> & Readonly<{ endpoint: Id }>

/** Path of an endpoint's page: `/flows` for `/api/v1/flows`. */
export function endpointPagePath(id: EndpointId): string {
  return ENDPOINT_PATHS[id].slice('/api/v1'.length)
}

/** Any page. The routes pass it the answer of its own endpoint. */
export type AnyPage = Page<unknown>
