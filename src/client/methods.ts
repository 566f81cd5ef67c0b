import { keysOf } from '../protocol/brand.ts'
import type { EventWire } from '../protocol/event.ts'
import type { EndpointId } from '../protocol/paths.ts'
import { ENDPOINT_PATHS } from '../protocol/paths.ts'
import type {
  ArchiveIndex,
  Contest,
  ContestLedger,
  Contests,
  EventCorrections,
  EventDetails,
  EventsPage,
  EventTypes,
  Flows,
  Funds,
  LogKeys,
  LoyaltyRuns,
  Patterns,
  Payouts,
  Schedule,
  Status,
  Summary,
} from '../protocol/resources.ts'
import type { Ask } from './ask.ts'
import { isOfType } from './daybook-error.ts'
import type { Given, QueryOf } from './endpoint-query.ts'
import { endpointPath } from './endpoint-query.ts'

/** What each endpoint answers. Files and the stream have ways of their own. */
type Answers = Readonly<{
  summary: Summary
  contests: Contests
  contest: Contest
  contestLedger: ContestLedger
  schedule: Schedule
  /** An iCalendar feed. */
  scheduleCalendar: string
  payouts: Payouts
  flows: Flows
  funds: Funds
  loyaltyRuns: LoyaltyRuns
  /** One page. */
  events: EventsPage
  event: EventWire
  eventDetails: EventDetails
  eventCorrections: EventCorrections
  patterns: Patterns
  archive: ArchiveIndex
  /** A signed note. */
  logCheckpoint: string
  logKeys: LogKeys
  /** A receipt. */
  logProof: string
  eventTypes: EventTypes
  /** A JSON Schema. */
  eventType: Readonly<Record<string, unknown>>
  openapi: Readonly<Record<string, unknown>>
  asyncapi: Readonly<Record<string, unknown>>
  status: Status
}>

type Id = Exclude<EndpointId, 'stream' | 'archiveFile' | 'logTile' | 'logEntries'>
type Place = Readonly<{
  contest: number
  contestLedger: number
  event: number
  eventDetails: number
  eventCorrections: number
  eventType: string
  logProof: number
}>
type Asked<One extends Id> = Omit<QueryOf<One>, 'format'> & Readonly<{ signal?: AbortSignal | undefined }>
type AnyAsked = Omit<Given, 'signal'> & Readonly<{ signal?: AbortSignal | undefined }>

/** One method for each endpoint: the number that its path names, if it names one, then its parameters. */
export type Methods = Readonly<{
  [One in Id]: One extends keyof Place
    ? (place: Place[One], asked?: Asked<One>) => Promise<Answers[One]>
    : (asked?: Asked<One>) => Promise<Answers[One]>
}>

const JSON_TYPES = ['application/json', 'application/schema+json']

/** The methods of the table of endpoints. An answer has the form that this version of the protocol gives it. */
export function methodsOf({ get }: Pick<Ask, 'get'>): Methods {
  const method = (id: EndpointId) => async (first?: string | number | AnyAsked, second?: AnyAsked) => {
    const [place, asked = {}] = typeof first === 'object' ? ['', first] : [first ?? '', second]
    const { signal, ...query } = asked
    const answer = await get(endpointPath(id, place, query), { signal })
    const isJson = JSON_TYPES.some((type) => isOfType(answer.headers, type))
    return isJson ? answer.json() : answer.text()
  }
  return Object.fromEntries(keysOf(ENDPOINT_PATHS).map((id): readonly unknown[] => [id, method(id)]))
}
