import type { FinalityCounts, KindSeen, Snapshot } from '../../log/store/reader.ts'
import { asOf, isSettledBefore } from '../../project/answers/as-of.ts'
import { contestLedger } from '../../project/answers/contest-ledger.ts'
import { answerContests, contest, noContest, resolveContests } from '../../project/answers/contests.ts'
import { eventCorrections } from '../../project/answers/event-corrections.ts'
import { flows } from '../../project/answers/flows.ts'
import { funds } from '../../project/answers/funds.ts'
import { loyaltyRuns } from '../../project/answers/loyalty-runs.ts'
import { patterns } from '../../project/answers/patterns.ts'
import { payouts } from '../../project/answers/payouts.ts'
import { type ResolvedSpan, resolvePatternRange, resolveRange } from '../../project/answers/range.ts'
import { schedule } from '../../project/answers/schedule.ts'
import { isSummarySettled, resolveMoment, summary } from '../../project/answers/summary.ts'
import type { Head } from '../../project/fold/books.ts'
import type { FileEndpoint } from '../../protocol/endpoints/endpoints.ts'
import type { EventTypes, Finality, Mirror, Status } from '../../protocol/endpoints/description-endpoints.ts'
import { moment } from '../../protocol/moment.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import { parsed, type Problem, refused } from '../../protocol/problem.ts'
import { EVENT_TYPES, RULES } from '../../protocol/rules.ts'
import { eventSchemas } from '../../protocol/schema.ts'
import { BEFORE_FIRST, parseContestId, parseSeq, type Seq } from '../../protocol/seq.ts'
import type { Chain } from '../../protocol/tx.ts'
import { indexRoute } from '../describe/api-index.ts'
import { asyncapiReply } from '../describe/asyncapi.ts'
import { openapiReply } from '../describe/openapi.ts'
import { JSON_TYPE } from '../http/headers.ts'
import {
  type AnswerRoute,
  type EndpointAnswers,
  endpointRoutes,
  problemReply,
  type Reply,
  type RouteRequest,
} from '../http/route.ts'
import type { ParsedQuery } from '../query/query.ts'
import { CALENDAR_TYPE, openScheduleCalendar } from './calendar.ts'
import {
  changesContests,
  changesLoyalty,
  changesPrizes,
  earlier,
  newestOf,
  newestOfContest,
  newestOfSchedule,
} from './changing-events.ts'
import {
  type AnswerSource,
  endpointAnswer,
  formatJson,
  formatList,
  type Freshness,
} from './endpoint-answer.ts'
import { eventsRoute } from './events-route.ts'
import { noEvent } from '../http/problem-document.ts'

/** Endpoints other than those of the stream and the archive. */
type ApiEndpoint = Exclude<EndpointId, FileEndpoint | 'stream'>

/** Report of a node about itself. */
export type NodeReport = Readonly<{
  version: string
  /** URL of the licence of the published log; null if none. */
  licence: string | null
  /** Whether the node keeps up. */
  following: () => Status['following']
  /** Whether the node asks the blockchain about transactions. */
  asksChain: boolean
  /** Report of a mirror; null or absent on a node that is no mirror. */
  mirror?: () => MirrorReport | null
}>

/** Report of a mirror about itself. Its version changes with everything else in it. */
export type MirrorReport = Readonly<{
  version: number
  mirror: Mirror
  /** The origin's word about held drafts; null before it has given it. */
  finality: Finality | null
}>

/** Routes of the API, except for the stream and the archive. Each answer says which events change it. */
export function apiRoutes(source: AnswerSource, node: NodeReport): readonly AnswerRoute[] {
  const answers: EndpointAnswers<Exclude<ApiEndpoint, 'events'>> = {
    ...figureAnswers(source),
    ...contestAnswers(source),
    ...paymentAnswers(source),
    ...scheduleAnswers(source),
    ...eventAnswers(source),
    ...eventTypeAnswers(source),
    openapi: openapiReply(node),
    asyncapi: asyncapiReply(node),
    status: statusAnswer(source, node),
  }
  return [...endpointRoutes(answers), eventsRoute(source), indexRoute(node.licence)]
}

/** `/summary`, and the answers about a range of time. One whose moment or range has ended is immutable. */
function figureAnswers(source: AnswerSource): EndpointAnswers<'summary' | 'flows' | 'funds' | 'patterns'> {
  return {
    summary: endpointAnswer(source, formatJson, (ask, { books }) => {
      const at = ask.query.time('at') ?? null
      // Compared with the present to the millisecond, so that a moment that has just passed is accepted.
      const resolved = resolveMoment(at, ask.latest, books.head)
      if (!resolved.ok) return resolved
      const freshness = isSummarySettled(books.head, at) ? 'settled' : 'log'
      return parsed({ freshness, compute: () => summary(books, at, ask.latest) })
    }),
    flows: endpointAnswer(source, formatList('flows'), (ask, { books }) => {
      const range = resolveRange(rangeOf(ask.query), ask.now, books, ask.latest)
      if (!range.ok) return range
      const freshness = freshnessOf(range.value, books.head)
      return parsed({ freshness, compute: () => parsed(flows(books, range.value)) })
    }),
    funds: endpointAnswer(source, formatList('funds'), (ask, { books }) => {
      const range = resolveRange(rangeOf(ask.query), ask.now, books, ask.latest)
      if (!range.ok) return range
      // Every answer contains `now`, so none is ever settled.
      const freshness = freshnessOfOpen(range.value)
      return parsed({ freshness, compute: () => parsed(funds(books, range.value)) })
    }),
    patterns: endpointAnswer(source, formatList('patterns'), (ask, { books }) => {
      const span = resolvePatternRange(rangeOf(ask.query), ask.now, books, ask.latest)
      if (!span.ok) return span
      const tz = ask.query.integer('tz') ?? 0
      const freshness = freshnessOf(span.value, books.head)
      return parsed({ freshness, compute: () => parsed(patterns(books, span.value, tz)) })
    }),
  }
}

function rangeOf(query: ParsedQuery): Parameters<typeof resolveRange>[0] {
  return { from: query.time('from'), to: query.time('to'), bucket: query.word('bucket') }
}

/** Freshness of a range. A range that has ended gives the same answer for ever. */
function freshnessOf(span: ResolvedSpan, head: Head): Freshness {
  return isSettledBefore(head, span.toMs) ? 'settled' : freshnessOfOpen(span)
}

function freshnessOfOpen({ nowMs }: ResolvedSpan): Freshness {
  return nowMs === null ? 'log' : 'minute'
}

/** `/contests`, one contest, and its ledger. */
function contestAnswers(source: AnswerSource): EndpointAnswers<'contests' | 'contest' | 'contestLedger'> {
  return {
    contests: endpointAnswer(source, formatList('contests'), ({ query }, { books, kinds }) => {
      const asked = resolveContests(books, {
        status: query.list('status'),
        q: query.word('q'),
        sort: query.word('sort'),
        after: query.integer('after'),
        limit: query.integer('limit'),
      })
      if (!asked.ok) return asked
      const changedBy = newestOf(kinds(), changesContests)
      return parsed({ freshness: 'log', changedBy, compute: () => answerContests(books, asked.value) })
    }),
    contest: endpointAnswer(source, formatJson, ({ segments }, { books }) => {
      const id = parseContestId(segments['id'] ?? '')
      const found = id === undefined ? undefined : books.contest(id)
      if (id === undefined || found === undefined) return noContest()
      return parsed({ freshness: 'log', changedBy: found.lastSeq, compute: () => contest(books, id) })
    }),
    contestLedger: endpointAnswer(source, formatList('contestLedger'), ({ segments, query }, { books }) => {
      const id = parseContestId(segments['id'] ?? '')
      const found = id === undefined ? undefined : books.contest(id)
      if (id === undefined || found === undefined) return noContest()
      const page = { after: query.integer('after'), limit: query.integer('limit') }
      const compute = (): ReturnType<typeof contestLedger> => contestLedger(books, id, page)
      return parsed({ freshness: 'log', changedBy: found.lastSeq, compute })
    }),
  }
}

/** `/payouts`, the unpaid prizes, and `/loyalty/runs`. */
function paymentAnswers(source: AnswerSource): EndpointAnswers<'payouts' | 'loyaltyRuns'> {
  return {
    payouts: endpointAnswer(source, formatList('payouts'), ({ query }, { books, kinds }, present) => {
      const page = { after: query.integer('after'), limit: query.integer('limit') }
      const asked = { contestId: query.integer('contestId'), ...page }
      const ofPrizes = newestOf(kinds(), changesPrizes)
      const changedBy =
        asked.contestId === undefined ? ofPrizes : earlier(ofPrizes, newestOfContest(books, asked.contestId))
      const compute = () => parsed(payouts(books, asked, present))
      return parsed({ freshness: 'minute', changedBy, compute })
    }),
    loyaltyRuns: endpointAnswer(source, formatList('loyaltyRuns'), (_, { books, kinds }) => {
      const changedBy = newestOf(kinds(), changesLoyalty)
      return parsed({ freshness: 'log', changedBy, compute: () => parsed(loyaltyRuns(books)) })
    }),
  }
}

/** `/schedule`, and its calendar feed. */
function scheduleAnswers(source: AnswerSource): EndpointAnswers<'schedule' | 'scheduleCalendar'> {
  const calendar = openScheduleCalendar(source.reader.identity.origin)
  const formatCalendar = (text: string, _: RouteRequest, { head }: Snapshot) => ({
    body: Buffer.from(text),
    type: CALENDAR_TYPE,
    seq: head.seq,
  })
  return {
    schedule: endpointAnswer(source, formatJson, (_, snapshot) => {
      const compute = () => parsed(schedule(snapshot.books))
      return parsed({ freshness: 'log', changedBy: newestOfSchedule(snapshot), compute })
    }),
    scheduleCalendar: endpointAnswer(source, formatCalendar, (_, snapshot) => {
      const compute = () => parsed(calendar(snapshot))
      return parsed({ freshness: 'log', changedBy: newestOfSchedule(snapshot), compute })
    }),
  }
}

/** One event: its line and details, which never change, and its corrections. */
function eventAnswers(source: AnswerSource): EndpointAnswers<'event' | 'eventDetails' | 'eventCorrections'> {
  return {
    event: (ask) => lineReply(source, ask, (snapshot, seq) => snapshot.line(seq)),
    eventDetails: (ask) => lineReply(source, ask, (snapshot, seq) => snapshot.detailsLine(seq)),
    eventCorrections: endpointAnswer(source, formatJson, ({ segments }, { head, books }) => {
      const seq = parseSeq(segments['seq'] ?? '')
      if (seq === undefined || seq < 1 || seq > head.seq) return refused(noEvent(head.seq, segments['seq']))
      const correction = books.correction(seq)
      // The event, its correction and its restatement follow each other.
      const changedBy = correction?.restatement ?? correction?.by ?? seq
      return parsed({ freshness: 'log', changedBy, compute: () => parsed(eventCorrections(books, seq)) })
    }),
  }
}

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
    eventTypes: endpointAnswer(source, formatJson, (_, { head, kinds }) => {
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

/** The catalogue of event types as of a head, with the kinds seen up to it. */
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

/** `/status`: the head and its age as of the present minute. */
function statusAnswer(source: AnswerSource, node: NodeReport): EndpointAnswers<'status'>['status'] {
  const { id, origin, chain, simulated } = source.reader.identity
  return endpointAnswer(source, formatJson, (_, { head, held }, present) => {
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
          // A mirror holds no drafts, and passes on the word of its origin.
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
