import { z } from 'zod'
import { WORD } from '../../protocol/catalogue.ts'
import type * as resources from '../../protocol/resources.ts'
import { EVENT_TYPES } from '../../protocol/rules.ts'

// What every answer is made of, and the answers that are of the log itself.

export const seq: z.ZodType<number> = z.int().min(0)
export const id: z.ZodType<number> = z.int().min(1)
export const number: z.ZodType<number> = z.int()
export const amount: z.ZodType<string> = z.string().regex(/^-?(?:0|[1-9]\d*)\.\d{9}$/)
export const price: z.ZodType<string | null> = z
  .string()
  .regex(/^(?:0|[1-9]\d*)\.\d{12}$/)
  .nullable()
export const at: z.ZodType<string> = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
export const atMs: z.ZodType<number> = z.int()
export const month: z.ZodType<string> = z.string().regex(/^\d{4}-(?:0[1-9]|1[0-2])$/)
export const next: z.ZodType<string | null> = z
  .string()
  .nullable()
  .describe('Path of the next page; null on the last')
export const digest: z.ZodType<string> = z.string()

export const event: z.ZodType<resources.ContestLedger['payouts'][number]> = z
  .strictObject({
    seq: id.describe('Position in the log, contiguous'),
    type: z.enum(EVENT_TYPES),
    kind: z.string().regex(WORD).describe('Expect kinds that you do not know'),
    at: at.describe('The moment of publication'),
    atMs,
    contestId: id.nullable(),
    kots: amount.nullable().describe('Amount of tokens; only of a correction negative'),
    tx: z.string().nullable().describe('Identifier of the blockchain transaction'),
  })
  .describe(
    'An event: these eight keys in this order, for ever. /api/v1/event-types/{type} has a schema for each type',
  )

export const archiveMonth: z.ZodType<resources.ArchiveIndex['months'][number]> = z.strictObject({
  month,
  state: z.enum(['open', 'closed']),
  url: z.string(),
  detailsUrl: z.string(),
  bytes: number.nullable(),
  events: number,
  firstSeq: id.nullable(),
  lastSeq: id.nullable(),
  sha256: z.string().nullable(),
  linesSha256: z.string().nullable(),
})

const bytesWithDigest = { bytes: number, sha256: digest }
export const manifest: z.ZodType<resources.ArchiveManifest> = z
  .strictObject({
    month,
    firstSeq: id.nullable(),
    lastSeq: id.nullable(),
    events: number,
    firstIndex: seq.nullable().describe('Index of the first leaf; null in a month without events'),
    size: number.describe('Size of the log’s tree at the month’s end'),
    root: z.base64().describe('Its root'),
    checkpoint: z.string().describe('Its signed checkpoint'),
    lines: z.strictObject(bytesWithDigest).describe('Of the month’s lines, unpacked'),
    gzip: z.strictObject(bytesWithDigest).describe('Of the file as served'),
    details: z.strictObject({ ...bytesWithDigest, lines: z.strictObject(bytesWithDigest) }),
  })
  .describe('What is recorded of a closed month, once and for ever')

export const logKeys: z.ZodType<resources.LogKeys> = z.strictObject({
  origin: z.string(),
  logId: z.string(),
  keys: z.array(
    z.strictObject({
      vkey: z.string().describe('The key as C2SP signed-note writes it'),
      state: z.enum(['signing', 'retired']),
      fromSize: number.describe('It signs trees that are larger'),
      toSize: number.nullable().describe('Of a retired key the size of the last tree that it signed'),
      statement: z.string().nullable().describe('A signed note in which an older key vouches for this one'),
    }),
  ),
  formerLogs: z.array(z.strictObject({ id: z.string(), origin: z.string(), size: number })),
})

export const eventType: z.ZodType<resources.EventTypes['types'][number]> = z.strictObject({
  type: z.enum(EVENT_TYPES),
  kinds: z
    .array(
      z.strictObject({
        kind: z.string().describe('A fixed kind, or `*` for every other word of the operator'),
        meaning: z.string(),
        posting: z.strictObject({ from: z.string(), to: z.string() }).nullable(),
      }),
    )
    .describe('What the type may say, and which account gives and which receives'),
  seen: z
    .array(z.strictObject({ kind: z.string(), firstSeq: id }))
    .describe('The kinds that there have been'),
  schema: z.record(z.string(), z.unknown()).describe('JSON Schema (2020-12), as /api/v1/event-types/{type}'),
})

export const page: z.ZodType = z.strictObject({
  after: seq.optional(),
  before: seq.optional(),
  limit: number,
  count: number,
  scannedTo: seq.describe('The last event’s seq when the page is full, else the last seq examined'),
  hasMore: z.boolean().describe('Only false means the end'),
  next,
})
