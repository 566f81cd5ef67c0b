import type { Parameter } from '../parameters.ts'
import type { ProblemCode } from '../problem.ts'
import type { AnswerName } from './answer-schemas.ts'
import type { EndpointId } from '../paths.ts'

/**
 * Time for which an answer may be kept. `build`: it changes with the program alone. `by-range`: some answers are settled
 * and kept for ever, as `settled` says; the others are revalidated.
 */
export type Caching = 'immutable' | 'revalidate' | 'build' | 'by-range' | 'never'

/** Media type of a binary or endless answer. */
export type RawType = 'application/gzip' | 'application/octet-stream' | 'text/event-stream'

/** Media type of an answer that is not a JSON resource. */
export type FileType = RawType | 'application/schema+json' | 'text/calendar' | 'text/plain'

/** Definition of an endpoint, apart from its path. Everything else about the endpoint derives from it. */
export type EndpointRow = Readonly<{
  /** One sentence, without a full stop. */
  meaning: string
  /** Name of the answer's type and of its schema, or the media type of a file. */
  answer: AnswerName | FileType
  /** Format of a text, with its standard. */
  format?: string
  /** Names of its parameters, in the order of documents; `endpoint-parameters.ts` defines each. */
  parameters: readonly string[]
  /**
   * Its list as a table, with `format=csv`: the name of the list in the answer, and what a row shows. The columns derive from
   * the schema: a column has the name of its JSON field, and a deeper field has its path, such as `input.digest`. An open map
   * has two columns, for key and value, and a row for each of its entries.
   */
  table?: Readonly<{ list: string; row: string }>
  /** Problems beside those of every endpoint, of its parameters and of its path. */
  problems?: readonly ProblemCode[]
  caching: Caching
  /** With `by-range`: which answers are settled. */
  settled?: string
  /** Allowance that a request counts against; `api` if absent. */
  allowance?: 'api' | 'tiles'
  /**
   * Thread that makes the answer. `brief`: the serving thread, in less than 5 ms (`bench/fairness.ts` holds them to it). `long`:
   * an answer thread. `streaming`: the route writes the answer itself.
   */
  work: 'brief' | 'long' | 'streaming'
  /** Whether it has a page, at its address without `/api/v1`. */
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
  /** `{name}` is one segment of it, `{name...}` (last only) one or more. */
  path: string
  /** Name of its group. */
  tag: string
  parameters: readonly Parameter[]
}> &
  Omit<EndpointRow, 'parameters'>

/** Endpoints that documents list together. */
export type EndpointGroup = Readonly<{
  tag: string
  description: string
  rows: Readonly<Partial<Record<EndpointId, EndpointRow>>>
}>
