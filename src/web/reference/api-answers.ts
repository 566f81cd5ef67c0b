import type { ContestWire } from '../../protocol/endpoints/contest-endpoints.ts'
import type { EventWire } from '../../protocol/event.ts'
import { type EndpointId, type PathPart, pathParts } from '../../protocol/paths.ts'
import { DAY_MS } from '../../protocol/moment.ts'
import { fillPath } from '../frame/answers.ts'
import { type DocumentedEndpoint, exampleOf, mediaOf, requestOf } from './api-document.ts'
import { askEndpoint } from '../frame/linked-answers.ts'
import type { ApiRequest, View } from '../frame/page.ts'

/** Example request, which this service or the sample log has answered. */
export type ExampleRequest = Readonly<{
  request: string
  /** Variable parts of its path. */
  segments: Readonly<Record<string, string>>
  /** Query without `?`. */
  query: string
  of: 'service' | 'sample'
}>

/** An example request with its answer; null when the reference shows none. */
export type AnsweredExample = ExampleRequest & Readonly<{ answer: ExampleAnswer | null }>

/** An answer as text: from this service now, or from the sample log. */
export type ExampleAnswer = Readonly<{
  type: string
  text: string
  of: 'service' | 'sample'
  request: string
}>

/** Subjects of the example requests: the newest event, the newest payout (otherwise that event), and a contest. */
type ExampleSubjects = Readonly<{ head: EventWire; event: EventWire; contest: ContestWire | undefined }>

/** Endpoints whose answers are not shown. The reference itself shows the two descriptions. */
const WITHOUT_ANSWER: ReadonlySet<string> = new Set<EndpointId>(['openapi', 'asyncapi', 'archiveFile'])
const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/schema+json'])
const TILE_WIDTH = 256

/** The part of a view that requests answers. */
type Asker = Pick<View, 'ask'>

/** Opens the example requests of all endpoints, about subjects in this log. */
export async function openExampleRequests(
  asking: Asker,
): Promise<(endpoint: DocumentedEndpoint) => ExampleRequest> {
  const subjects = await subjectsOf(asking)
  return (endpoint) => {
    const example = exampleQuery(endpoint, subjects)
    if (example === null) return sampleRequest(endpoint)
    const { segments = {}, query = '' } = example
    const path = fillPath(endpoint.path, segments)
    return { request: `${path}${query === '' ? '' : `?${query}`}`, segments, query, of: 'service' }
  }
}

/** Opens the example requests with their answers. */
export async function openExampleAnswers(
  asking: Asker,
): Promise<(endpoint: DocumentedEndpoint) => Promise<AnsweredExample>> {
  const exampleOfEndpoint = await openExampleRequests(asking)
  return async (endpoint) => {
    const example = exampleOfEndpoint(endpoint)
    return { ...example, answer: (await answerOf(asking, endpoint, example)) ?? sampleAnswer(endpoint) }
  }
}

async function subjectsOf(asking: Asker): Promise<ExampleSubjects | null> {
  const [head] = (await askEndpoint(asking, 'events', { query: 'order=desc&limit=1' })).answer.events
  if (head === undefined) return null
  const payouts = await askEndpoint(asking, 'events', { query: 'type=payout&order=desc&limit=1' })
  const closed = await askEndpoint(asking, 'contests', { query: 'status=closed&limit=1' })
  const any = await askEndpoint(asking, 'contests', { query: 'limit=1' })
  const event = payouts.answer.events[0] ?? head
  return { head, event, contest: closed.answer.contests[0] ?? any.answer.contests[0] }
}

/** Example request with a short answer; null when the log has nothing for the endpoint yet. */
function exampleQuery(
  { operationId, path }: DocumentedEndpoint,
  subjects: ExampleSubjects | null,
): ApiRequest | null {
  const parts = pathParts(path)
  if (subjects === null) return parts.length === 0 && operationId !== 'stream' ? {} : null
  const { head, event, contest } = subjects
  const day = head.atMs - (head.atMs % DAY_MS)
  const date = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
  const tile = head.seq < TILE_WIDTH ? `000.p/${head.seq}` : '000'
  const known: Readonly<Record<PathPart, string | undefined>> = {
    id: contest === undefined ? undefined : String(contest.id),
    seq: String(event.seq),
    file: `${head.at.slice(0, 7)}.jsonl.gz`,
    type: event.type,
    level: '0',
    tile,
  }
  const segments = Object.fromEntries(parts.map((name) => [name, known[name] ?? '']))
  if (Object.values(segments).includes('')) return null
  const range = `from=${date(day - 2 * DAY_MS)}&to=${date(day)}`
  const queries: Readonly<Partial<Record<EndpointId, string>>> = {
    contests: 'limit=1',
    contestLedger: 'limit=2',
    payouts: 'limit=1',
    flows: `${range}&bucket=day`,
    funds: `${range}&bucket=day`,
    patterns: `${range}&tz=120`,
    events: 'type=payout&order=desc&limit=2',
    stream: `after=${head.seq - 1}`,
  }
  return { segments, query: queries[operationId] ?? '' }
}

/** Current answer of the service if it is JSON; otherwise null. */
async function answerOf(
  asking: Asker,
  endpoint: DocumentedEndpoint,
  example: ExampleRequest,
): Promise<ExampleAnswer | null> {
  const { operationId: id } = endpoint
  const type = mediaOf(endpoint)[0]?.[0] ?? ''
  if (example.of === 'sample' || !JSON_TYPES.has(type) || WITHOUT_ANSWER.has(id)) return null
  const answered = await asking.ask(id, example)
  if (!answered.ok) return null
  const text = JSON.stringify(answered.value.answer, null, 2)
  return { type, text, of: 'service', request: example.request }
}

/** Request of the document's example. */
function sampleRequest(endpoint: DocumentedEndpoint): ExampleRequest {
  const request = requestOf(endpoint)
  const [path = '', query = ''] = request.split('?')
  const form = endpoint.path.replaceAll('.', String.raw`\.`).replaceAll(/\{(\w+)\}/g, '(?<$1>.+)')
  return { request, segments: { ...new RegExp(`^${form}$`).exec(path)?.groups }, query, of: 'sample' }
}

function sampleAnswer(endpoint: DocumentedEndpoint): ExampleAnswer | null {
  const example = exampleOf(endpoint)
  if (example === undefined) return null
  const { type, value } = example
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return { type, text, of: 'sample', request: requestOf(endpoint) }
}
