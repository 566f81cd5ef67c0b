import { z } from 'zod'
import type * as resources from '../../protocol/resources.ts'
import {
  asOfSchema,
  bytesSchema,
  id,
  momentOrNull,
  month,
  now,
  numberSchema,
  seq,
  textSchema,
} from './field-schemas.ts'

const events = numberSchema.describe('Events of the month')
const firstSeq = id.nullable().describe('Seq of the month’s first event; null without events')
const lastSeq = id.nullable().describe('Seq of the month’s last event; null without events')

export const archiveMonth: z.ZodType<resources.ArchiveIndex['months'][number]> = z
  .strictObject({
    month,
    state: z.enum(['open', 'closed']).describe('A closed month never changes'),
    url: textSchema.describe('Path of the month’s file of events'),
    detailsUrl: textSchema.describe('Path of the month’s file of details'),
    bytes: bytesSchema.nullable().describe('Size of the file of events; null while open'),
    events,
    firstSeq,
    lastSeq,
    sha256: textSchema.nullable().describe('SHA-256 of the file of events, in hex; null while open'),
    linesSha256: textSchema
      .nullable()
      .describe('SHA-256 of the month’s lines, unpacked, in hex; null while open'),
  })
  .describe('A month of the archive')

export const archiveIndexSchema: z.ZodType<resources.ArchiveIndex> = z
  .strictObject({
    months: z.array(archiveMonth).describe('Every month since the first event, the first first'),
  })
  .describe('The months of the archive')

/** The size and the digest of something. */
const weighed = (what: string): Readonly<{ bytes: z.ZodType<number>; sha256: z.ZodType<string> }> => ({
  bytes: bytesSchema.describe(`Bytes of ${what}`),
  sha256: textSchema.describe(`SHA-256 of ${what}, in hex`),
})

export const manifest: z.ZodType<resources.ArchiveManifest> = z
  .strictObject({
    month,
    firstSeq,
    lastSeq,
    events,
    firstIndex: seq.nullable().describe('Index of the first leaf; null in a month without events'),
    size: numberSchema.describe('Size of the log’s tree at the month’s end'),
    root: z.base64().describe('Root of that tree'),
    checkpoint: textSchema.describe('Signed checkpoint of that tree'),
    lines: z.strictObject(weighed('the month’s lines, unpacked')).describe('Of the month’s lines, unpacked'),
    gzip: z.strictObject(weighed('the file of events as served')).describe('Of the file of events as served'),
    details: z
      .strictObject({
        ...weighed('the details’ file as served'),
        lines: z
          .strictObject(weighed('the details’ lines, unpacked'))
          .describe('Of the details’ lines, unpacked'),
      })
      .describe('Of the details’ file as served'),
  })
  .describe('What is recorded of a closed month, once and for ever')

const origin = textSchema.describe('The log’s name, which its checkpoints begin with')
const signedBy = z.strictObject({
  vkey: textSchema.describe('The key as C2SP signed-note writes it'),
  state: z.enum(['signing', 'retired']).describe('Whether the key signs now'),
  fromSize: numberSchema.describe('The key signs trees that are larger'),
  toSize: numberSchema.nullable().describe('Of a retired key the size of the last tree that it signed'),
  statement: textSchema.nullable().describe('A signed note in which an older key vouches for this one'),
})
const formerLog = z.strictObject({
  id: textSchema.describe('Id of a log that this one goes on from'),
  origin,
  size: numberSchema.describe('Events of that log that are in this one'),
})

export const logKeys: z.ZodType<resources.LogKeys> = z
  .strictObject({
    origin,
    logId: textSchema.describe('The log’s id'),
    keys: z.array(signedBy).describe('Every key that signs or ever signed the log'),
    formerLogs: z.array(formerLog).describe('The logs that this one goes on from'),
  })
  .describe('By which keys the log is known')

export const status: z.ZodType<resources.Status> = z
  .strictObject({
    asOf: asOfSchema,
    now,
    head: z
      .strictObject({
        seq: seq.describe('Seq of the newest event'),
        ...momentOrNull('at', 'The moment of the newest event; null of an empty log'),
        ageMs: numberSchema.nullable().meta({
          description: 'How old the newest event is; null of an empty log',
          'x-unit': 'milliseconds',
        }),
      })
      .describe('The newest event'),
    version: textSchema.describe('Version of the software'),
    log: textSchema.describe('The log’s id'),
    origin,
    chain: textSchema.describe('The blockchain whose transactions are named'),
    simulated: z.boolean().describe('Whether the platform is simulated'),
    following: z
      .strictObject({
        state: z.enum(['leader', 'follower']).describe('Whether this node writes the log or follows it'),
        behind: numberSchema.meta({ description: 'Events that this node lacks', 'x-unit': 'events' }),
      })
      .describe('Whether this node keeps up'),
  })
  .describe('The head of the log, and what answers')
