import type { AnswerName, Answers } from './answer-schemas.ts'
import { CONTEST_ENDPOINTS } from './contest-endpoints.ts'
import { DESCRIPTION_ENDPOINTS } from './description-endpoints.ts'
import type { EndpointGroup, EndpointRow, FileType, RawType } from './endpoint.ts'
import { EVENT_ENDPOINTS } from './event-endpoints.ts'
import { FIGURE_ENDPOINTS } from './figure-endpoints.ts'
import { FILE_ENDPOINTS } from './file-endpoints.ts'
import type { EndpointId } from '../paths.ts'

/** Groups in which documents list the endpoints. */
export const ENDPOINT_GROUPS: readonly EndpointGroup[] = [
  {
    tag: 'Figures',
    description: 'Totals, movements and balances, computed from the log',
    rows: FIGURE_ENDPOINTS,
  },
  {
    tag: 'Contests and prizes',
    description: 'Contests, their ledgers, the schedule and the unpaid prizes',
    rows: CONTEST_ENDPOINTS,
  },
  {
    tag: 'Events',
    description: 'The events of the log: page by page, one by one, and live',
    rows: EVENT_ENDPOINTS,
  },
  {
    tag: 'Files and proofs',
    description: 'Whole months as files, and the proofs with which anyone can check the history',
    rows: FILE_ENDPOINTS,
  },
  {
    tag: 'The service',
    description: 'The status of the service, and the descriptions of its API',
    rows: DESCRIPTION_ENDPOINTS,
  },
]

type Rows = typeof FIGURE_ENDPOINTS &
  typeof CONTEST_ENDPOINTS &
  typeof EVENT_ENDPOINTS &
  typeof FILE_ENDPOINTS &
  typeof DESCRIPTION_ENDPOINTS

/** The row of every endpoint. Without a row for a path, or with an incomplete one, this does not compile. */
export const ENDPOINT_ROWS: Readonly<Record<EndpointId, EndpointRow>> = {
  ...FIGURE_ENDPOINTS,
  ...CONTEST_ENDPOINTS,
  ...EVENT_ENDPOINTS,
  ...FILE_ENDPOINTS,
  ...DESCRIPTION_ENDPOINTS,
}

// The types below select endpoints, so that the compiler finds a place that lacks one.

/** Endpoints whose rows have this value in a column. */
type EndpointWhere<Column extends keyof EndpointRow, Value> = {
  [Id in EndpointId]: Rows[Id] extends Readonly<Record<Column, Value>> ? Id : never
}[EndpointId]

/** Names of an endpoint's parameters. */
export type ParameterName<Id extends EndpointId = EndpointId> = Rows[Id]['parameters'][number]

export type EndpointWithParameters = Exclude<EndpointId, EndpointWhere<'parameters', readonly []>>

export type EndpointWithPage = EndpointWhere<'page', true>

export type EndpointWithoutPage = EndpointWhere<'page', false>

/** Endpoints whose answers `daybook verify` computes from the log. */
export type RecomputedEndpoint = EndpointWhere<'check', 'recomputed'>

/** Endpoints whose lists are also a table: CSV with `format=csv`. The CSV of `/events` is made from its lines. */
export type TableEndpoint = EndpointWhere<'table', object>

/** Endpoints of the archive's and the log's files. */
export type FileEndpoint = keyof typeof FILE_ENDPOINTS

/** Endpoints with a binary or endless answer. */
export type RawEndpoint = EndpointWhere<'answer', RawType>

/** Type of an endpoint's answer: a resource, a JSON document, or text. */
export type AnswerOf<Id extends EndpointId> = Rows[Id]['answer'] extends AnswerName
  ? Answers[Rows[Id]['answer']]
  : Rows[Id]['answer'] extends Exclude<FileType, 'application/schema+json'>
    ? string
    : Readonly<Record<string, unknown>>
