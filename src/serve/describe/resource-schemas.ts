import type { z } from 'zod'
import { contest, contestRow, contests, ledger, planned, schedule } from './contest-schemas.ts'
import {
  event,
  eventCorrections,
  eventDetails,
  eventsPage,
  eventType,
  eventTypes,
  pageBounds,
} from './event-schemas.ts'
import { asOf, now } from './field-schemas.ts'
import { flows, funds, patterns, summary } from './figure-schemas.ts'
import { archiveIndex, archiveMonth, logKeys, manifest, status } from './log-schemas.ts'
import { loyaltyFile, loyaltyRun, loyaltyRuns, payouts, unpaid } from './payment-schemas.ts'

// The answers of /api/v1 as schemas, each held by its type to the one in `protocol/resources`. The OpenAPI document is
// made of them, and tests hold every answer against them.

/** The schema of every JSON answer by the name that the table of endpoints gives it. */
export const RESOURCE_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  Summary: summary,
  Contests: contests,
  Contest: contest,
  ContestLedger: ledger,
  Schedule: schedule,
  Payouts: payouts,
  Flows: flows,
  Funds: funds,
  LoyaltyRuns: loyaltyRuns,
  EventsPage: eventsPage,
  Event: event,
  EventDetails: eventDetails,
  EventCorrections: eventCorrections,
  Patterns: patterns,
  ArchiveIndex: archiveIndex,
  ArchiveManifest: manifest,
  LogKeys: logKeys,
  EventTypes: eventTypes,
  Status: status,
}

/** What several answers are made of, by the names that the documents give them. */
export const PART_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  AsOf: asOf,
  Present: now,
  ContestRow: contestRow,
  PlannedMoment: planned,
  UnpaidPrize: unpaid,
  LoyaltyRun: loyaltyRun,
  LoyaltyFile: loyaltyFile,
  PageBounds: pageBounds,
  ArchiveMonth: archiveMonth,
  EventType: eventType,
}
