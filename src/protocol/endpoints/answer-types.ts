import type { EventWire } from '../event.ts'
import type {
  ArchiveIndex,
  Contest,
  ContestLedger,
  Contests,
  EventCorrections,
  EventDetails,
  EventsPage,
  EventTypes,
  LogKeys,
  LoyaltyRuns,
  Payouts,
  Schedule,
  Status,
  Summary,
} from '../resources.ts'
import type { Witnesses } from './witnesses-resource.ts'
import type { Flows, Funds, Patterns } from '../range-resources.ts'

type AnyJson = Readonly<Record<string, unknown>>

/** Type of each JSON answer, by the name that the table of endpoints and the schemas give it. */
export type Answers = Readonly<{
  Summary: Summary
  Contests: Contests
  Contest: Contest
  ContestLedger: ContestLedger
  Schedule: Schedule
  Payouts: Payouts
  Flows: Flows
  Funds: Funds
  LoyaltyRuns: LoyaltyRuns
  EventsPage: EventsPage
  Event: EventWire
  EventDetails: EventDetails
  EventCorrections: EventCorrections
  Patterns: Patterns
  ArchiveIndex: ArchiveIndex
  LogKeys: LogKeys
  Witnesses: Witnesses
  EventTypes: EventTypes
  OpenAPI: AnyJson
  AsyncAPI: AnyJson
  Status: Status
}>

export type AnswerName = keyof Answers

/** Answers with a schema of our own. OpenAPI and AsyncAPI define the schemas of the descriptions. */
export type ResourceName = Exclude<AnswerName, 'OpenAPI' | 'AsyncAPI'>
