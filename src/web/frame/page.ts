import type { LogIdentity } from '../../log/store/reader.ts'
import type { AnswerOf } from '../../protocol/endpoints/endpoint-rows.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Parameter } from '../../protocol/parameters.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { Parsed } from '../../protocol/problem.ts'
import type { ParsedQuery } from '../../serve/http/query.ts'
import type { Assets, Island } from '../assets/assets.ts'
import type { Html } from '../markup/html.ts'
import type { Site } from '../markup/site.ts'
import type { AnswerTable } from '../markup/table.ts'

/** What a page is shown with, beside its answer. */
export type View = Readonly<{
  site: Site
  identity: LogIdentity
  assets: Assets
  /** Its own path, without a suffix, and the path's variable parts. */
  path: string
  segments: Readonly<Record<string, string>>
  query: ParsedQuery
  /** The address of the same as JSON; null on a page of no endpoint. */
  api: string | null
  /** The answer as the API gives it. */
  json: string
  /** Whether fewer rows were read than the question has: `api` leads to more than is known here. */
  cut: boolean
  /** Whether it can never change: a past view. */
  past: boolean
  /** The paths of all pages: a link to another is given only where it is. */
  paths: ReadonlySet<string>
  /** When it was asked: a page is written again with every minute at least. */
  now: Ms
  /** Asks the API one thing more, in the same service; only of a page that says `further`. */
  ask(endpoint: EndpointId, asked?: ApiRequest): Promise<Parsed<ApiAnswer>>
}>

/** A question to an endpoint: the variable parts of its path, and a query without its `?`. */
export type ApiRequest = Readonly<{ segments?: Readonly<Record<string, string>>; query?: string }>

/** An answer of the API as it stands on the wire, and read. */
export type ApiAnswer = Readonly<{ json: string; address: string; value: unknown }>

/** Something of a page that may stand in somebody else's: a picture, or a document in a frame of this height. */
export type Embedded = Readonly<{ name: string; path: string; title: string }> &
  (Readonly<{ is: 'picture'; leadsTo?: string }> | Readonly<{ is: 'frame'; height: number }>)

/**
 * The page of an endpoint: the endpoint's path without `/api/v1`, the same query, the same answer. It shows nothing
 * that the answer lacks. With `.json`, `.csv`, `.svg` and `.metadata.json` at the end of its path it is the same again.
 */
export type Page<Answer> = Readonly<{
  /** Its endpoint; null for a page that has no twin in the API. */
  endpoint: EndpointId | null
  /** Its path, where that is not the endpoint's. */
  path?: string
  /** What its query may hold, of a page of no endpoint; the endpoint's own table otherwise. */
  parameters?: readonly Parameter[]
  /** Its address for a citation, with everything said that it takes for granted; its own path and query if absent. */
  permalink?(answer: Answer, view: View): string
  /** Its canonical address, where what it was asked is repeated nowhere; its own path and query if absent. */
  canonical?: string
  /** The heading, and the first part of the document's title. */
  title(answer: Answer, view: View): string
  /** What other programs show of a link to it; what it begins with if absent or null. */
  description?(answer: Answer, view: View): string | null
  /** What stands under the heading and the line that says as of when. */
  render(answer: Answer, view: View): Html | Promise<Html>
  /** Rows that it asks of its endpoint at most, where the endpoint gives more in one answer. */
  rows?: number
  /** The same of its picture. */
  pictureRows?: number
  /** Whether it asks further endpoints, and so shows the log even where it has none of its own. */
  further?: boolean
  /** Whether the feed has its news. */
  news?: boolean
  /** Whether a page of no endpoint is kept up to date like the others. */
  live?: boolean
  /** Where to lead a reader whose question has a page of its own; null where this page is to be shown. */
  elsewhere?(view: View): Promise<string | null>
  /** Further elements of the document's head. */
  head?(answer: Answer, view: View): Html
  /** The island that makes it livelier; `frame` if absent. */
  island?: Island
  csv?(answer: Answer, view: View): AnswerTable
  svg?(answer: Answer, view: View): Html | Promise<Html>
  /** The page whose picture is offered to others, where that is not what a citation leads to. */
  pictured?(answer: Answer, view: View): string
  /** What of it others may show, beside the picture that it is with `.svg`. */
  embedded?(answer: Answer, view: View): readonly Embedded[]
}>

/** The page of one endpoint, with that endpoint's answer. */
export type EndpointPage<Id extends EndpointId> = Page<AnswerOf<Id>> & Readonly<{ endpoint: Id }>

/** Path of an endpoint's page: `/flows` for `/api/v1/flows`. */
export function endpointPagePath(id: EndpointId): string {
  return ENDPOINT_PATHS[id].slice('/api/v1'.length)
}

/** Any page: the routes hand it what its own endpoint answers. */
export type AnyPage = Page<unknown>
