import type { z } from 'zod'
import { assert, keysOf } from '../brand.ts'
import { type Parameter, type ParameterForm, type ValueOf } from '../parameters.ts'
import { ENDPOINT_PATHS, type EndpointId } from '../paths.ts'
import type { ProblemCode } from '../problem.ts'
import { CONTEST_ENDPOINTS } from './contest-endpoints.ts'
import { DESCRIPTION_ENDPOINTS } from './description-endpoints.ts'
import { parametersOf } from './endpoint-parameters.ts'
import { EVENT_ENDPOINTS } from './event-endpoints.ts'
import { FIGURE_ENDPOINTS } from './figure-endpoints.ts'
import { FILE_ENDPOINTS } from './file-endpoints.ts'
import type { Described } from './resource-fields.ts'

/**
 * Cache policy of an answer. `build`: it changes with the program alone. `by-range`: settled answers are kept for ever,
 * as `settled` says; the others are revalidated.
 */
export type Caching = 'immutable' | 'revalidate' | 'build' | 'by-range' | 'never'

/** Media type of a binary or endless answer. */
type RawType = 'application/gzip' | 'application/octet-stream' | 'text/event-stream'

/** Media type of an answer that is not a JSON resource. */
type FileType = RawType | 'application/schema+json' | 'text/calendar' | 'text/plain'

/** Definition of an endpoint, apart from its path. Everything else about the endpoint derives from it. */
type EndpointRow = Readonly<{
  /** One sentence, without a full stop. */
  meaning: string
  /** Name of the answer in the documents, or the media type of a file. */
  answer: string
  /** Schema of a JSON answer of our own. OpenAPI and AsyncAPI define the schemas of the two descriptions. */
  schema?: z.ZodType
  /** Format of a text, with its standard. */
  format?: string
  /** Form, bounds and meaning of each parameter by name, in the order of the documents. */
  parameters: Readonly<Record<string, Omit<Parameter, 'name'>>>
  /**
   * CSV table of its list (`format=csv`): the name of the list in the answer, and the meaning of a row. Columns derive
   * from the schema. A column has the name of its JSON field, or the path of a deeper field, such as `input.digest`. An
   * open map has two columns, for key and value, and a row for each entry. `divided`: rows and columns of its open maps
   * when the request asks for these.
   */
  table?: Readonly<{
    list: string
    row: string
    divided?: Readonly<{ by: string; row: string; columns: readonly string[] }>
  }>
  /** Problems of its own. All endpoints also have common problems and those of their parameters and path. */
  problems?: readonly ProblemCode[]
  caching: Caching
  /** With `by-range`: which answers are settled. */
  settled?: string
  /** Allowance that a request counts against; `api` if absent. */
  allowance?: 'api' | 'tiles'
  /**
   * Thread that makes the answer. `brief`: the serving thread, in less than 5 ms. `long`:
   * an answer thread. `streaming`: the route writes the answer itself.
   */
  work: 'brief' | 'long' | 'streaming'
  /** Whether it has a page. The page has the same address without `/api/v1`. */
  page: boolean
  /**
   * Treatment by `daybook verify`. `recomputed`: computes the answer from the log. `compared`: compares the answer
   * with the log, its tree or a signature. Otherwise the reason why it does neither.
   */
  check: 'recomputed' | 'compared' | Readonly<{ unchecked: string }>
}>

/** An endpoint with everything that derives from its row. */
export type Endpoint = Readonly<{
  id: EndpointId
  /** Path, in which `{name}` is one segment and `{name...}` (last only) one or more. */
  path: string
  /** Name of its group. */
  tag: string
  parameters: readonly Parameter[]
}> &
  Omit<EndpointRow, 'parameters'>

/** Groups in which documents list the endpoints. */
export const ENDPOINT_GROUPS: readonly Readonly<{
  tag: string
  description: string
  rows: Readonly<Partial<Record<EndpointId, EndpointRow>>>
}>[] = [
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

/** Row of every endpoint. A path without a complete row does not compile. */
const ENDPOINT_ROWS: Readonly<Record<EndpointId, EndpointRow>> = {
  ...FIGURE_ENDPOINTS,
  ...CONTEST_ENDPOINTS,
  ...EVENT_ENDPOINTS,
  ...FILE_ENDPOINTS,
  ...DESCRIPTION_ENDPOINTS,
}

/** Every public endpoint. The router, the client, OpenAPI, the pages and the reference derive from this table. */
export const ENDPOINTS: readonly Endpoint[] = keysOf(ENDPOINT_PATHS).map((id) => ({
  ...ENDPOINT_ROWS[id],
  id,
  path: ENDPOINT_PATHS[id],
  tag: tagOf(id),
  parameters: parametersOf(ENDPOINT_ROWS[id].parameters),
}))

const BY_ID: ReadonlyMap<string, Endpoint> = new Map(ENDPOINTS.map((endpoint) => [endpoint.id, endpoint]))

/** A row of the table of endpoints by its id. */
export function endpointOf(id: EndpointId): Endpoint {
  const found = BY_ID.get(id)
  assert(found !== undefined, `the table of endpoints has a row ${id}`)
  return found
}

function tagOf(id: EndpointId): string {
  const found = ENDPOINT_GROUPS.find(({ rows }) => rows[id] !== undefined)
  assert(found !== undefined, `${id} is in a group`)
  return found.tag
}

const RAW: ReadonlySet<string> = new Set<RawType>([
  'application/gzip',
  'application/octet-stream',
  'text/event-stream',
])

/** Whether an endpoint's answer is binary or endless. */
export function isRaw(id: EndpointId): id is RawEndpoint {
  return RAW.has(ENDPOINT_ROWS[id].answer)
}

/** Endpoints with a table. */
export const TABLE_ENDPOINTS: readonly TableEndpoint[] = keysOf(ENDPOINT_PATHS).filter(isTableEndpoint)

/** Whether an endpoint also answers its list as a table, with `format=csv`. */
export function isTableEndpoint(id: EndpointId): id is TableEndpoint {
  return ENDPOINT_ROWS[id].table !== undefined
}

/** The table of an endpoint: its list in the answer, and what a row shows. */
export function tableTerms(id: TableEndpoint): NonNullable<EndpointRow['table']> {
  const { table } = ENDPOINT_ROWS[id]
  assert(table !== undefined, `${id} has a table`)
  return table
}

// The types below derive from the rows, so that the compiler finds a place that lacks an endpoint.

/** Type of each endpoint's answer: a resource, a JSON document, or text. */
export type Answers = Readonly<{
  [Id in EndpointId]: Rows[Id] extends Readonly<{ schema: infer Schema extends z.ZodType }>
    ? Described<Schema>
    : Rows[Id]['answer'] extends Exclude<FileType, 'application/schema+json'>
      ? string
      : Readonly<Record<string, unknown>>
}>

/** Values of each endpoint's parameters. */
export type Queries = Readonly<{
  [Id in EndpointId]: Readonly<{
    [Name in keyof Rows[Id]['parameters']]: Rows[Id]['parameters'][Name] extends Readonly<{
      form: infer Form extends ParameterForm
    }>
      ? ValueOf<Form>
      : never
  }>
}>

/** Endpoints whose rows have this value in a column. */
type EndpointWhere<Column extends keyof EndpointRow, Value> = {
  [Id in EndpointId]: Rows[Id] extends Readonly<Record<Column, Value>> ? Id : never
}[EndpointId]

/** Names of all parameters. */
export type ParameterName = { [Id in EndpointId]: keyof Queries[Id] }[EndpointId]

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
