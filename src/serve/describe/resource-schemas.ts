import type { z } from 'zod'
import type { Answers, ResourceName } from '../../protocol/endpoints/answer-types.ts'
import type { ArchiveManifest } from '../../protocol/resources.ts'
import {
  contestSchema,
  contestRow,
  contestsSchema,
  ledger,
  planned,
  scheduleSchema,
} from './contest-schemas.ts'
import {
  event,
  eventCorrectionsSchema,
  eventDetails,
  eventsPageSchema,
  eventType,
  eventTypes,
  pageBounds,
} from './event-schemas.ts'
import { asOfSchema, now } from './field-schemas.ts'
import { bucketWidth, flowsSchema, fundsSchema, patternsSchema, summarySchema } from './figure-schemas.ts'
import { archiveIndexSchema, archiveMonth, logKeys, manifest, status } from './log-schemas.ts'
import { witnessesSchema } from './witness-schemas.ts'
import { loyaltyFile, loyaltyRun, loyaltyRunsSchema, payoutsSchema, unpaid } from './payment-schemas.ts'

// Schemas of the answers of /api/v1, each checked by its type against `protocol/resources`. The OpenAPI document is
// made from them, and tests check every answer against them.

/** Schemas of all JSON answers by their names in the table of endpoints, and of the manifest, which is a file. */
export const RESOURCE_SCHEMAS: {
  readonly [Name in ResourceName]: z.ZodType<Answers[Name]>
} & Readonly<{ ArchiveManifest: z.ZodType<ArchiveManifest> }> = {
  Summary: summarySchema,
  Contests: contestsSchema,
  Contest: contestSchema,
  ContestLedger: ledger,
  Schedule: scheduleSchema,
  Payouts: payoutsSchema,
  Flows: flowsSchema,
  Funds: fundsSchema,
  LoyaltyRuns: loyaltyRunsSchema,
  EventsPage: eventsPageSchema,
  Event: event,
  EventDetails: eventDetails,
  EventCorrections: eventCorrectionsSchema,
  Patterns: patternsSchema,
  ArchiveIndex: archiveIndexSchema,
  ArchiveManifest: manifest,
  LogKeys: logKeys,
  Witnesses: witnessesSchema,
  EventTypes: eventTypes,
  Status: status,
}

/** Schema of an answer by its name; undefined for a file, and for a document of a foreign format. */
export function resourceSchema(name: string): z.ZodType | undefined {
  const schemas: Readonly<Partial<Record<string, z.ZodType>>> = RESOURCE_SCHEMAS
  return schemas[name]
}

/** Schemas of shared parts of answers, by their names in the documents. */
export const PART_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  AsOf: asOfSchema,
  Present: now,
  BucketWidth: bucketWidth,
  ContestRow: contestRow,
  PlannedMoment: planned,
  UnpaidPrize: unpaid,
  LoyaltyRun: loyaltyRun,
  LoyaltyFile: loyaltyFile,
  PageBounds: pageBounds,
  ArchiveMonth: archiveMonth,
  EventType: eventType,
}
