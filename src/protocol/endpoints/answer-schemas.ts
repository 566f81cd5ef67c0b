import type { z } from 'zod'
import { bucketSchema, flowsSchema, fundsSchema, patternsSchema, summarySchema } from '../figure-resources.ts'
import { asOfSchema, type Described, now } from '../resource-fields.ts'
import {
  archiveIndexSchema,
  archiveMonthSchema,
  contestRowSchema,
  contestSchema,
  contestsSchema,
  eventCorrectionsSchema,
  eventDetailsSchema,
  eventSchema,
  eventsPageSchema,
  eventTypeSchema,
  eventTypesSchema,
  ledgerSchema,
  loyaltyFileSchema,
  loyaltyRunSchema,
  loyaltyRunsSchema,
  manifestSchema,
  pageBoundsSchema,
  payoutsSchema,
  plannedSchema,
  scheduleSchema,
  unpaidSchema,
} from '../resources.ts'
import { logKeysSchema, statusSchema, witnessesSchema } from '../status-resources.ts'

/** Schemas of all JSON answers by their names in the table of endpoints, and of the manifest, which is a file. */
export const ANSWER_SCHEMAS = {
  Summary: summarySchema,
  Contests: contestsSchema,
  Contest: contestSchema,
  ContestLedger: ledgerSchema,
  Schedule: scheduleSchema,
  Payouts: payoutsSchema,
  Flows: flowsSchema,
  Funds: fundsSchema,
  LoyaltyRuns: loyaltyRunsSchema,
  EventsPage: eventsPageSchema,
  Event: eventSchema,
  EventDetails: eventDetailsSchema,
  EventCorrections: eventCorrectionsSchema,
  Patterns: patternsSchema,
  ArchiveIndex: archiveIndexSchema,
  ArchiveManifest: manifestSchema,
  LogKeys: logKeysSchema,
  Witnesses: witnessesSchema,
  EventTypes: eventTypesSchema,
  Status: statusSchema,
}

/** Schema of an answer by its name; undefined for a file, and for a document of a foreign format. */
export function answerSchema(name: string): z.ZodType | undefined {
  const schemas: Readonly<Partial<Record<string, z.ZodType>>> = ANSWER_SCHEMAS
  return schemas[name]
}

/** Schemas of shared parts of answers, by their names in the documents. */
export const PART_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  AsOf: asOfSchema,
  Present: now,
  BucketWidth: bucketSchema,
  ContestRow: contestRowSchema,
  PlannedMoment: plannedSchema,
  UnpaidPrize: unpaidSchema,
  LoyaltyRun: loyaltyRunSchema,
  LoyaltyFile: loyaltyFileSchema,
  PageBounds: pageBoundsSchema,
  ArchiveMonth: archiveMonthSchema,
  EventType: eventTypeSchema,
}

/** Type of each JSON answer by its name. OpenAPI and AsyncAPI define the schemas of the two descriptions. */
export type Answers = {
  readonly [Name in keyof typeof ANSWER_SCHEMAS]: Described<(typeof ANSWER_SCHEMAS)[Name]>
} & Readonly<Record<'OpenAPI' | 'AsyncAPI', Readonly<Record<string, unknown>>>>

export type AnswerName = keyof Answers
