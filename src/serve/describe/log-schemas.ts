import { z } from 'zod'
import { MIRROR_STATES, MIRROR_WAITS } from '../../protocol/mirror-resource.ts'
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
    url: textSchema.describe('Path of the month’s events file'),
    detailsUrl: textSchema.describe('Path of the month’s details file'),
    bytes: bytesSchema.nullable().describe('Size of the events file; null while open'),
    events,
    firstSeq,
    lastSeq,
    sha256: textSchema.nullable().describe('SHA-256 of the events file, in hex; null while open'),
    linesSha256: textSchema
      .nullable()
      .describe('SHA-256 of the month’s lines, unpacked, in hex; null while open'),
  })
  .describe('A month of the archive')

export const archiveIndexSchema: z.ZodType<resources.ArchiveIndex> = z
  .strictObject({
    months: z.array(archiveMonth).describe('All months since the first event, oldest first'),
  })
  .describe('The months of the archive')

/** Size and digest of some bytes. */
const sizeAndDigest = (what: string): Readonly<{ bytes: z.ZodType<number>; sha256: z.ZodType<string> }> => ({
  bytes: bytesSchema.describe(`Size of ${what}`),
  sha256: textSchema.describe(`SHA-256 of ${what}, in hex`),
})

export const manifest: z.ZodType<resources.ArchiveManifest> = z
  .strictObject({
    month,
    firstSeq,
    lastSeq,
    events,
    firstIndex: seq.nullable().describe('Index of the first leaf; null in a month without events'),
    size: numberSchema.describe('Size of the log’s tree at the end of the month'),
    root: z.base64().describe('Root of that tree'),
    checkpoint: textSchema.describe('Signed checkpoint of that tree'),
    lines: z.strictObject(sizeAndDigest('the uncompressed events')).describe('The uncompressed events'),
    gzip: z.strictObject(sizeAndDigest('the events file')).describe('The events file as served'),
    details: z
      .strictObject({
        ...sizeAndDigest('the details file'),
        lines: z.strictObject(sizeAndDigest('the uncompressed details')).describe('The uncompressed details'),
      })
      .describe('The details file as served'),
  })
  .describe('The manifest of a closed month, which never changes')

const origin = textSchema.describe('The log’s name, the first line of its checkpoints')
const signedBy = z.strictObject({
  vkey: textSchema.describe('Verifier key in the format of C2SP signed-note'),
  state: z.enum(['signing', 'retired']).describe('Whether the key signs now'),
  fromSize: numberSchema.describe('The key signs trees of this size and larger ones'),
  toSize: numberSchema
    .nullable()
    .describe('Size of the last tree that a retired key signed; null while it signs'),
  statement: textSchema.nullable().describe('A signed note in which an older key vouches for this one'),
})
const formerLog = z.strictObject({
  id: textSchema.describe('Id of a log that this one continues'),
  origin,
  size: numberSchema.describe('Events of that log that are in this one'),
})

export const logKeys: z.ZodType<resources.LogKeys> = z
  .strictObject({
    origin,
    logId: textSchema.describe('The log’s id'),
    keys: z.array(signedBy).describe('All keys that sign or have signed the log'),
    formerLogs: z.array(formerLog).describe('Logs that this one continues'),
  })
  .describe('The keys of the log')

const count = (meaning: string) => numberSchema.meta({ description: meaning, 'x-unit': 'drafts' })

const finality = z
  .strictObject({
    asked: z
      .boolean()
      .describe('Whether this node asks the blockchain before it publishes an event with a transaction'),
    held: count('Drafts that wait: for the blockchain, or for others of their contest that do'),
    ...momentOrNull('oldestAt', 'When the oldest waiting draft was accepted; null if none waits'),
    refused: count('Waiting drafts whose transaction is final and that are refused'),
    failed: count('Drafts whose transaction failed; they are never published'),
    dropped: count('Drafts that the operator gave up; they are never published'),
    vouched: numberSchema.meta({
      description: 'Events that were published on the operator’s word in place of the blockchain’s',
      'x-unit': 'events',
    }),
  })
  .describe('What waits for the blockchain; counts and ages only')

const upstreamMirror = z
  .strictObject({
    of: textSchema.describe('Public address of the service that it follows'),
    state: z.enum(MIRROR_STATES).describe('As `state` of this mirror'),
    behindMs: numberSchema.meta({ description: 'Most by which it may be late', 'x-unit': 'milliseconds' }),
    ...momentOrNull(
      'provedAt',
      'When its origin last showed a checkpoint that agrees; null before the first',
    ),
  })
  .describe('A mirror between this one and the log’s own service')

const mirror = z
  .strictObject({
    of: textSchema.describe('Public address of the service that this mirror follows'),
    state: z
      .enum(MIRROR_STATES)
      .describe(
        '`waiting` without contact; `stopped` for good, because the origin contradicts what it signed',
      ),
    reason: z
      .enum(MIRROR_WAITS)
      .nullable()
      .describe('Why it waits, as in PROTOCOL.md; null unless `state` is `waiting`'),
    originSeq: seq.describe('Newest seq that the origin has shown or named, proved or not'),
    behindEvents: numberSchema.meta({
      description: 'Events that the origin has shown and this mirror has not proved',
      'x-unit': 'events',
    }),
    behindMs: numberSchema.meta({
      description: 'Most by which its answers may be late; 0 while it follows and lacks nothing',
      'x-unit': 'milliseconds',
    }),
    ...momentOrNull(
      'provedAt',
      'When the origin last showed a checkpoint that agrees with all that this mirror has; null before the first',
    ),
    ...momentOrNull('contactAt', 'When the origin last answered; null before the first answer'),
    upstream: z
      .array(upstreamMirror)
      .describe('Mirrors between this one and the log’s own service, the nearest first, by their own word'),
    keys: z
      .array(textSchema.describe('Verifier key in the format of C2SP signed-note'))
      .describe('Keys by which this mirror proves the log'),
    keysFrom: z
      .enum(['operator', 'first_use'])
      .describe('Whether the mirror’s operator named the keys, or the log itself at the first use'),
    ...momentOrNull('heldAt', 'When the origin told the counts of `finality`; null before it has'),
    contradiction: textSchema
      .nullable()
      .describe('What the origin contradicts; null unless this mirror has stopped'),
  })
  .describe('This node is a mirror of another service')

export const status: z.ZodType<resources.Status> = z
  .strictObject({
    asOf: asOfSchema,
    now,
    head: z
      .strictObject({
        seq: seq.describe('Seq of the newest event'),
        ...momentOrNull('at', 'The moment of the newest event; null for an empty log'),
        ageMs: numberSchema.nullable().meta({
          description: 'Age of the newest event; null for an empty log',
          'x-unit': 'milliseconds',
        }),
      })
      .describe('The newest event'),
    version: textSchema.describe('Version of the software'),
    log: textSchema.describe('The log’s id'),
    origin,
    chain: textSchema.describe('Blockchain of the transactions'),
    simulated: z.boolean().describe('Whether the platform is simulated'),
    following: z
      .strictObject({
        state: z
          .enum(['leader', 'follower'])
          .describe('Whether this node writes the log; otherwise it follows'),
        behind: numberSchema.meta({
          description:
            'What this node knows to exist and lacks: events of the origin of a mirror, commits of a log on several nodes',
          'x-unit': 'events',
        }),
      })
      .describe('Whether this node keeps up with the log'),
    finality,
    mirror: mirror.nullable().describe('Null on a node that is no mirror'),
  })
  .describe('The head of the log, and this node')
