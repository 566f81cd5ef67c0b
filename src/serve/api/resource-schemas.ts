import { z } from 'zod'
import { recordOf } from '../../protocol/brand.ts'
import type * as resources from '../../protocol/resources.ts'
import { BUCKETS, CONTEST_STATUSES, UNPAID_STATUSES } from '../../protocol/resources.ts'
import {
  amount,
  archiveMonth,
  at,
  atMs,
  digest,
  event,
  eventType,
  id,
  logKeys,
  manifest,
  month,
  next,
  number,
  page,
  price,
  seq,
} from './log-schemas.ts'

// The answers of /api/v1 as schemas. `satisfies` holds each to its type in `protocol/resources`; the OpenAPI
// document is made of them, and tests hold every answer against them.

const asOf = z
  .strictObject({ seq, at: at.nullable(), atMs: atMs.nullable() })
  .describe('The last event counted; seq 0 with null moments on an empty log')
const now = z.strictObject({ at, atMs }).describe('The present minute, with which the answer was computed')

const contest = {
  id,
  title: z.string().nullable(),
  status: z.enum(CONTEST_STATUSES),
  opensAt: at,
  opensAtMs: atMs,
  closesAt: at,
  closesAtMs: atMs,
  openedAt: at.nullable(),
  openedAtMs: atMs.nullable(),
  closedAt: at.nullable(),
  closedAtMs: atMs.nullable(),
  paidAt: at.nullable(),
  paidAtMs: atMs.nullable(),
  pool: amount.describe('What has been put in'),
  entries: number,
  plays: number,
  spentOnPlay: amount,
  prizesOwed: amount,
  prizesRedeemed: amount,
  prizesNotRedeemed: amount,
}

const contestRow = z.strictObject(contest)

const planned = z.strictObject({ contestId: id, title: z.string().nullable(), at, atMs })
const range = { from: at, fromMs: atMs, to: at, toMs: atMs }
const flowFigures = { spentOnPlay: amount, paidInPrizes: amount, burned: amount }
const fundFigures = { treasury: amount, runningPools: amount, loyaltyFund: amount, prizesNotRedeemed: amount }
const complete = z.boolean().describe('Whether an event at or after the bucket’s end has been published')
const bucketAt = { at, atMs, complete }
const patternFigures = { ...flowFigures, byKind: z.record(z.string(), amount), plays: number }
const hour = z.int().min(0).max(23)
const day = z.int().min(1).max(7).describe('1 = Monday to 7 = Sunday')

const loyaltyFile = z.strictObject({
  seq: id,
  digest,
  bytes: number.nullable(),
  url: z.string().nullable(),
  at,
  atMs,
})

const unpaid = z.strictObject({
  contestId: id,
  kind: z.string(),
  kots: amount,
  status: z.enum(UNPAID_STATUSES),
  unlocksAt: at.nullable(),
  unlocksAtMs: atMs.nullable(),
  reviewUntil: at.nullable(),
  reviewUntilMs: atMs.nullable(),
  availableAt: at,
  availableAtMs: atMs,
})

const summary = z.strictObject({
  asOf,
  contests: z.strictObject({ upcoming: number, running: number, paying: number, paid: number }),
  entries: number,
  plays: number,
  events: number,
  payouts: number,
  spentOnPlay: amount,
  paidInPrizes: amount,
  paidInLoyalty: amount,
  burned: amount,
  ...fundFigures,
  tokenPriceUsd: price,
}) satisfies z.ZodType<resources.Summary>

const ledger = z.strictObject({
  asOf,
  contest: contestRow,
  pool: z.strictObject({
    in: z.record(z.string(), amount),
    out: z.record(z.string(), amount),
    balance: amount,
  }),
  prizes: z.array(
    z.strictObject({
      kind: z.string(),
      owed: amount,
      redeemed: amount,
      expired: amount,
      notRedeemed: amount,
    }),
  ),
  payouts: z.array(event),
  next,
}) satisfies z.ZodType<resources.ContestLedger>

const run = z.strictObject({
  month,
  paysAt: at.nullable(),
  paysAtMs: atMs.nullable(),
  input: loyaltyFile.nullable(),
  output: loyaltyFile.nullable(),
  recipients: number.nullable(),
  total: amount.nullable(),
  paid: amount,
  notPaid: amount.nullable(),
  payouts: number,
}) satisfies z.ZodType<resources.LoyaltyRun>

const status = z.strictObject({
  asOf,
  now,
  head: z.strictObject({
    seq,
    at: at.nullable(),
    atMs: atMs.nullable(),
    ageMs: number.nullable(),
  }),
  version: z.string(),
  log: z.string(),
  origin: z.string(),
  chain: z.string(),
  simulated: z.boolean(),
  following: z.strictObject({ state: z.enum(['leader', 'follower']), behind: number }),
}) satisfies z.ZodType<resources.Status>

/** The schema of every JSON answer by the name that the table of endpoints gives it. */
export const RESOURCE_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  Summary: summary,
  Contests: z.strictObject({
    asOf,
    contests: z.array(contestRow),
    next,
  }) satisfies z.ZodType<resources.Contests>,
  Contest: z.strictObject({ asOf, ...contest }) satisfies z.ZodType<resources.Contest>,
  ContestLedger: ledger,
  Schedule: z.strictObject({
    asOf,
    opens: z.array(planned),
    closes: z.array(planned),
    nextLoyaltyPayment: z.strictObject({ month, at, atMs }).nullable(),
  }) satisfies z.ZodType<resources.Schedule>,
  Payouts: z.strictObject({
    asOf,
    now,
    unpaid: z.array(unpaid),
    totals: z.strictObject(recordOf(UNPAID_STATUSES, () => amount)),
    next,
  }) satisfies z.ZodType<resources.Payouts>,
  Flows: z.strictObject({
    asOf,
    ...range,
    bucket: z.enum(BUCKETS),
    buckets: z.array(z.strictObject({ ...bucketAt, ...flowFigures, tokenPriceUsd: price })),
    totals: z.strictObject(flowFigures),
  }) satisfies z.ZodType<resources.Flows>,
  Funds: z.strictObject({
    asOf,
    ...range,
    bucket: z.enum(BUCKETS),
    now: z.strictObject(fundFigures),
    buckets: z.array(z.strictObject({ ...bucketAt, ...fundFigures })),
  }) satisfies z.ZodType<resources.Funds>,
  LoyaltyRuns: z.strictObject({ asOf, runs: z.array(run) }) satisfies z.ZodType<resources.LoyaltyRuns>,
  EventsPage: z.strictObject({ events: z.array(event), page }),
  Event: event,
  EventDetails: z.strictObject({
    seq: id,
    details: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .nullable()
      .describe('Under `$defs` of the type’s schema; null when the event says nothing more'),
  }) satisfies z.ZodType<resources.EventDetails>,
  EventCorrections: z.strictObject({
    asOf,
    seq: id,
    correctedBy: id.nullable().describe('Seq of the correction that took it back; null while it stands'),
    restatedBy: id.nullable().describe('Seq of the event that took its place; null while there is none'),
  }) satisfies z.ZodType<resources.EventCorrections>,
  Patterns: z.strictObject({
    asOf,
    ...range,
    tz: number,
    byHour: z.array(z.strictObject({ hour, ...patternFigures })),
    byDay: z.array(z.strictObject({ day, ...patternFigures })),
    cells: z.array(z.strictObject({ day, hour, ...patternFigures })),
  }) satisfies z.ZodType<resources.Patterns>,
  ArchiveIndex: z.strictObject({ months: z.array(archiveMonth) }) satisfies z.ZodType<resources.ArchiveIndex>,
  ArchiveManifest: manifest,
  LogKeys: logKeys,
  EventTypes: z.strictObject({ asOf, types: z.array(eventType) }) satisfies z.ZodType<resources.EventTypes>,
  Status: status,
}

/** What several answers are made of, by the names that the documents give them. */
export const PART_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  AsOf: asOf,
  Present: now,
  ContestRow: contestRow,
  PlannedMoment: planned,
  UnpaidPrize: unpaid,
  LoyaltyRun: run,
  LoyaltyFile: loyaltyFile,
  PageBounds: page,
  ArchiveMonth: archiveMonth,
  EventType: eventType,
}
