import type { ContestWire } from '../../protocol/resources.ts'
import type { EventWire } from '../../protocol/event.ts'
import { hasParameters } from '../../protocol/endpoints/endpoints.ts'
import type { EndpointWithParameters } from '../../protocol/endpoints/endpoint-rows.ts'
import type { EndpointId, PathPart } from '../../protocol/paths.ts'
import { pathParts } from '../../protocol/paths.ts'
import { DAY_MS } from '../../protocol/moment.ts'
import { fill } from '../frame/answers.ts'
import type { DocumentedEndpoint } from '../frame/api-document.ts'
import { exampleOf, mediaOf, requestOf } from '../frame/api-document.ts'
import { askEndpoint } from '../frame/linked-answers.ts'
import type { ApiRequest, View } from '../frame/page.ts'

/** A request that this service answers, or that a sample has answered. */
export type ExampleRequest = Readonly<{
  request: string
  /** The variable parts of its path, and its query without a `?`. */
  segments: Readonly<Record<string, string>>
  query: string
  of: 'service' | 'sample'
}>

/** A request, and its answer where the reference can show one. */
export type Shown = ExampleRequest & Readonly<{ answer: ExampleAnswer | null }>

/** An answer as text: this service's own, just now, or that of the sample whose request is named. */
export type ExampleAnswer = Readonly<{
  type: string
  text: string
  of: 'service' | 'sample'
  request: string
}>

/** What the log has that can be asked for: its newest event, its newest payout or else that event, and a contest. */
type Subjects = Readonly<{ head: EventWire; event: EventWire; contest: ContestWire | undefined }>

/** The descriptions themselves are no examples: the page is made of them. */
const UNSHOWN: ReadonlySet<string> = new Set<EndpointId>(['openapi', 'asyncapi', 'archiveFile'])
const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/schema+json'])
const TILE_WIDTH = 256

/** Whom the reference asks. */
type Asking = Pick<View, 'ask'>

/** What to ask each endpoint, of things that this very log has. */
export async function openExampleRequests(
  asking: Asking,
): Promise<(endpoint: DocumentedEndpoint) => ExampleRequest> {
  const subjects = await subjectsOf(asking)
  return (endpoint) => {
    const asked = askedOf(endpoint, subjects)
    if (asked === null) return ofSample(endpoint)
    const { segments = {}, query = '' } = asked
    const path = fill(endpoint.path, segments)
    return { request: `${path}${query === '' ? '' : `?${query}`}`, segments, query, of: 'service' }
  }
}

/** The same with what each is answered. */
export async function openExampleAnswers(
  asking: Asking,
): Promise<(endpoint: DocumentedEndpoint) => Promise<Shown>> {
  const questionOf = await openExampleRequests(asking)
  return async (endpoint) => {
    const question = questionOf(endpoint)
    return { ...question, answer: (await answerOf(asking, endpoint, question)) ?? answerOfSample(endpoint) }
  }
}

async function subjectsOf(asking: Asking): Promise<Subjects | null> {
  const [head] = (await askEndpoint(asking, 'events', { query: 'order=desc&limit=1' })).answer.events
  if (head === undefined) return null
  const payouts = await askEndpoint(asking, 'events', { query: 'type=payout&order=desc&limit=1' })
  const closed = await askEndpoint(asking, 'contests', { query: 'status=closed&limit=1' })
  const any = await askEndpoint(asking, 'contests', { query: 'limit=1' })
  const event = payouts.answer.events[0] ?? head
  return { head, event, contest: closed.answer.contests[0] ?? any.answer.contests[0] }
}

/** A question that is answered with little; null of an endpoint for which the log has nothing yet. */
function askedOf({ operationId, path }: DocumentedEndpoint, subjects: Subjects | null): ApiRequest | null {
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
  const queries: Readonly<Record<EndpointWithParameters, string>> = {
    summary: '',
    contests: 'limit=1',
    contestLedger: 'limit=2',
    payouts: 'limit=1',
    flows: `${range}&bucket=day`,
    funds: `${range}&bucket=day`,
    patterns: `${range}&tz=120`,
    events: 'type=payout&order=desc&limit=2',
    stream: `after=${head.seq - 1}`,
  }
  return { segments, query: hasParameters(operationId) ? queries[operationId] : '' }
}

/** What the service answers now, where that is read as it is; null of everything else. */
async function answerOf(
  asking: Asking,
  endpoint: DocumentedEndpoint,
  question: ExampleRequest,
): Promise<ExampleAnswer | null> {
  const { operationId: id } = endpoint
  const type = mediaOf(endpoint)[0]?.[0] ?? ''
  if (question.of === 'sample' || !JSON_TYPES.has(type) || UNSHOWN.has(id)) return null
  const answered = await asking.ask(id, question)
  if (!answered.ok) return null
  const text = JSON.stringify(answered.value.value, null, 2)
  return { type, text, of: 'service', request: question.request }
}

/** The document's own example as it was asked. */
function ofSample(endpoint: DocumentedEndpoint): ExampleRequest {
  const request = requestOf(endpoint)
  const [path = '', query = ''] = request.split('?')
  const form = endpoint.path.replaceAll('.', String.raw`\.`).replaceAll(/\{(\w+)\}/g, '(?<$1>.+)')
  return { request, segments: { ...new RegExp(`^${form}$`).exec(path)?.groups }, query, of: 'sample' }
}

function answerOfSample(endpoint: DocumentedEndpoint): ExampleAnswer | null {
  const example = exampleOf(endpoint)
  if (example === undefined) return null
  const { type, value } = example
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return { type, text, of: 'sample', request: requestOf(endpoint) }
}
