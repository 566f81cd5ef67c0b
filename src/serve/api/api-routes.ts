import type { FinalityCounts, KindSeen, Snapshot } from '../../log/store/reader.ts'
import { ANSWERS } from '../../project/answers/computed-answers.ts'
import { asOf } from '../../project/answers/as-of.ts'
import type { Head } from '../../project/fold/books.ts'
import type { FileEndpoint } from '../../protocol/endpoints/endpoints.ts'
import type { EventTypes, Finality, Mirror, Status } from '../../protocol/endpoints/description-endpoints.ts'
import { keysOf, recordOf } from '../../protocol/brand.ts'
import { moment } from '../../protocol/moment.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import { noEvent, parsed, type Problem } from '../../protocol/problem.ts'
import { EVENT_TYPES, RULES } from '../../protocol/rules.ts'
import { eventSchemas } from '../../protocol/schema.ts'
import { BEFORE_FIRST, parseSeq, type Seq } from '../../protocol/seq.ts'
import type { Chain } from '../../protocol/tx.ts'
import { indexRoute } from '../describe/api-index.ts'
import { asyncapiReply } from '../describe/asyncapi.ts'
import { openapiReply } from '../describe/openapi.ts'
import { JSON_TYPE } from '../http/headers.ts'
import {
  type AnswerRoute,
  type EndpointAnswer,
  type EndpointAnswers,
  endpointRoutes,
  problemReply,
  type Reply,
  type RouteRequest,
} from '../http/route.ts'
import { CALENDAR_TYPE, openScheduleCalendar } from './calendar.ts'
import { newestChange } from './changing-events.ts'
import { type AnswerSource, computedAnswer, endpointAnswer, answerFormat } from './endpoint-answer.ts'
import { eventsRoute } from './events-route.ts'

/** Endpoints other than those of the stream and the archive. */
type ApiEndpoint = Exclude<EndpointId, FileEndpoint | 'stream'>

/** Report of a node about itself. */
export type NodeReport = Readonly<{
  version: string
  /** URL of the licence of the published log; null if none. */
  licence: string | null
  /** Reports whether the node keeps up. */
  following: () => Status['following']
  /** Whether the node asks the blockchain about transactions. */
  asksChain: boolean
  /** Report of a mirror; null or absent on a node that is no mirror. */
  mirror?: () => MirrorReport | null
}>

/** Report of a mirror about itself. Its version changes with every other field. */
export type MirrorReport = Readonly<{
  version: number
  mirror: Mirror
  /** The origin's report about held drafts; null before the first. */
  finality: Finality | null
}>

/** Routes of the API, except for the stream and the archive. */
export function apiRoutes(source: AnswerSource, node: NodeReport): readonly AnswerRoute[] {
  const answers: EndpointAnswers<Exclude<ApiEndpoint, 'events'>> = {
    ...recordOf(keysOf(ANSWERS), (id) => computedAnswer(source, id)),
    scheduleCalendar: calendarAnswer(source),
    event: (request) => lineReply(source, request, (snapshot, seq) => snapshot.line(seq)),
    eventDetails: (request) => lineReply(source, request, (snapshot, seq) => snapshot.detailsLine(seq)),
    ...eventTypeAnswers(source),
    openapi: openapiReply(node),
    asyncapi: asyncapiReply(node),
    status: statusAnswer(source, node),
  }
  return [...endpointRoutes(answers), eventsRoute(source), indexRoute(node.licence)]
}

/** The calendar feed of the schedule. */
function calendarAnswer(source: AnswerSource): EndpointAnswer {
  const calendar = openScheduleCalendar(source.reader.identity.origin)
  const formatCalendar = (body: string, _: RouteRequest, { head }: Snapshot) => ({
    body,
    type: CALENDAR_TYPE,
    seq: head.seq,
  })
  return endpointAnswer(source, formatCalendar, (_, snapshot) => {
    const compute = () => parsed(calendar(snapshot))
    return parsed({ freshness: 'log', changedBy: newestChange(snapshot, 'schedule'), compute })
  })
}

/** A line of one event, which never changes. */
function lineReply(
  { reader }: AnswerSource,
  { segments }: RouteRequest,
  read: (snapshot: Snapshot, seq: Seq) => Uint8Array | string | undefined,
): Reply {
  const seq = parseSeq(segments['seq'] ?? '')
  return reader.snapshot((snapshot): Reply => {
    const body = seq === undefined ? undefined : read(snapshot, seq)
    if (body === undefined) return problemReply(noEvent(snapshot.head.seq, segments['seq']))
    return { is: 'body', keep: 'immutable', etag: 'of-content', type: JSON_TYPE, body }
  })
}

const SCHEMA_TYPE = 'application/schema+json; charset=utf-8'
const NO_TYPE: Problem = {
  code: 'not-found',
  detail: `There is no such type of event. There are ${EVENT_TYPES.join(', ')}.`,
}

/** `/event-types` and the schema of each type, derived from the rules of admission. */
function eventTypeAnswers(source: AnswerSource): EndpointAnswers<'eventTypes' | 'eventType'> {
  const { chain } = source.reader.identity
  // Schemas change only with the build.
  const schemas = new Map(
    Object.entries(eventSchemas(chain)).map(([type, one]) => [type, JSON.stringify(one)]),
  )
  return {
    eventTypes: endpointAnswer(source, answerFormat('eventTypes'), (_, { head, kinds }) => {
      const seen = kinds()
      // `kinds` is in the order of first appearance.
      const changedBy = seen.at(-1)?.firstSeq ?? BEFORE_FIRST
      return parsed({ freshness: 'log', changedBy, compute: () => parsed(catalogue(head, seen, chain)) })
    }),
    eventType: ({ segments }) => {
      const body = schemas.get(segments['type'] ?? '')
      if (body === undefined) return problemReply(NO_TYPE)
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type: SCHEMA_TYPE, body }
    },
  }
}

/** Catalogue of event types as of a head, with the kinds seen up to it. */
function catalogue(head: Head, seen: readonly KindSeen[], chain: Chain): EventTypes {
  const schemas = eventSchemas(chain)
  return {
    asOf: asOf(head),
    types: EVENT_TYPES.map((type) => ({
      type,
      kinds: RULES.filter((rule) => rule.type === type).map((rule) => ({
        kind: rule.kind,
        meaning: rule.meaning,
        posting: rule.posting ?? null,
      })),
      seen: seen
        .filter((one) => one.type === type)
        .map(({ kind, firstSeq }) => ({ kind, firstSeq }))
        .toSorted((a, b) => a.firstSeq - b.firstSeq),
      schema: schemas[type],
    })),
  }
}

/** Answer of `/status`: the head and its age as of the current minute. */
function statusAnswer(source: AnswerSource, node: NodeReport): EndpointAnswer {
  const { id, origin, chain, simulated } = source.reader.identity
  return endpointAnswer(source, answerFormat('status'), (_, { head, held }, present) => {
    const counts = held()
    const mirror = node.mirror?.() ?? null
    const following = node.following()
    const role = `${following.state === 'leader' ? '' : 'f'}${following.behind}`
    const own = `${counts.version}${node.asksChain ? 'a' : ''}${role}`
    return parsed({
      freshness: 'minute',
      beside: mirror === null ? own : `m${mirror.version}`,
      compute() {
        // The head may be newer than the start of the minute; then its age is 0.
        const ageMs = head.atMs === null ? null : Math.max(0, present - head.atMs)
        const status: Status = {
          asOf: asOf(head),
          now: moment(present),
          head: { ...asOf(head), ageMs },
          version: node.version,
          log: id,
          origin,
          chain,
          simulated,
          following,
          // A mirror holds no drafts, and passes on its origin's report.
          finality: mirror?.finality ?? finalityOf(counts, node.asksChain),
          mirror: mirror?.mirror ?? null,
        }
        return parsed(status)
      },
    })
  })
}

function finalityOf(counts: FinalityCounts, asked: boolean): Finality {
  const { held, oldestMs, refused: refusedCount, failed, dropped, vouched } = counts
  const oldestAt = oldestMs === null ? null : moment(oldestMs).at
  return { asked, held, oldestAt, oldestAtMs: oldestMs, refused: refusedCount, failed, dropped, vouched }
}
