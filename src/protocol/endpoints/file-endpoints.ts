import { z } from 'zod'
import { RECEIPT_CHECKPOINTS, WITNESS_STATES } from '../enumerations.ts'
import {
  bytesSchema,
  type Described,
  id,
  momentOrNull,
  momentSchema,
  month,
  numberSchema,
  seq,
  textSchema,
} from './resource-fields.ts'

// Endpoints of the archive’s files and of the log’s own files. Anyone can check the history with them.

const events = numberSchema.describe('Events of the month')
const firstSeq = id.nullable().describe('Its first seq; null without events')
const lastSeq = id.nullable().describe('Its last seq; null without events')

export const archiveMonthSchema = z
  .strictObject({
    month,
    state: z.enum(['open', 'closed']).describe('A closed month never changes'),
    url: textSchema.describe('Path of its events file'),
    detailsUrl: textSchema.describe('Path of its details file'),
    parquetUrl: textSchema
      .nullable()
      .describe('Path of its Parquet file, which no signature names; null while open'),
    bytes: bytesSchema.nullable().describe('Size of the events file; null while open'),
    events,
    firstSeq,
    lastSeq,
    sha256: textSchema.nullable().describe('SHA-256 of the events file, in hex; null while open'),
    linesSha256: textSchema.nullable().describe('SHA-256 of its unpacked lines, in hex; null while open'),
  })
  .describe('A month of the archive')

export type ArchiveMonth = Described<typeof archiveMonthSchema>

const archiveIndexSchema = z
  .strictObject({
    months: z.array(archiveMonthSchema).describe('All months since the first event, oldest first'),
  })
  .describe('The months of the archive')

export type ArchiveIndex = Described<typeof archiveIndexSchema>

/** Size and digest of a file, or of its unpacked lines. */
const digestOf = (what: string) => ({
  bytes: bytesSchema.describe(`Size of ${what}`),
  sha256: textSchema.describe(`SHA-256 of ${what}, in hex`),
})

export const manifestSchema = z
  .strictObject({
    month,
    firstSeq,
    lastSeq,
    events,
    firstIndex: seq.nullable().describe('Index of the first leaf; null in a month without events'),
    size: numberSchema.describe('Size of the log’s tree at the end of the month'),
    root: z.base64().describe('Root of that tree'),
    checkpoint: textSchema.describe('Signed checkpoint of that tree'),
    lines: z.strictObject(digestOf('the uncompressed events')).describe('The uncompressed events'),
    gzip: z.strictObject(digestOf('the events file')).describe('The events file as served'),
    details: z
      .strictObject({
        ...digestOf('the details file'),
        lines: z.strictObject(digestOf('the uncompressed details')).describe('The uncompressed details'),
      })
      .describe('The details file as served'),
  })
  .describe('The manifest of a closed month, which never changes')

export type ArchiveManifest = Described<typeof manifestSchema>

/** Size and SHA-256 (hex) of a file or of its unpacked lines. */
export type Digest = ArchiveManifest['gzip']

export const origin = textSchema.describe('The log’s name, the first line of its checkpoints')
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

const logKeysSchema = z
  .strictObject({
    origin,
    logId: textSchema.describe('The log’s id'),
    keys: z.array(signedBy).describe('All keys that sign or have signed the log'),
    formerLogs: z.array(formerLog).describe('Logs that this one continues'),
  })
  .describe('The keys of the log')

/** All keys that sign or have signed the log, and the former logs that it continues. */
export type LogKeys = Described<typeof logKeysSchema>

const name = textSchema.describe('Name of the witness')

const witness = z
  .strictObject({
    name,
    vkey: textSchema.describe('Verifier key in the format of C2SP signed-note'),
    url: textSchema.describe('Address below which the witness takes checkpoints (C2SP tlog-witness)'),
    state: z
      .enum(WITNESS_STATES)
      .describe('Its last answers: `unasked` before the first; `silent` without any; `refusing` to cosign'),
    seq: seq.nullable().describe('Last event of the newest tree that it has cosigned; null before the first'),
    ...momentOrNull('at', 'The time of that cosignature; null before the first'),
  })
  .describe('A witness under one of its keys')

const witnessed = z
  .strictObject({
    seq: seq.describe('Last event that the checkpoint covers'),
    ...momentSchema('at', 'When a quorum had cosigned it, by the times of the witnesses'),
    behind: numberSchema.meta({
      description: 'Events of the log that it does not cover yet',
      'x-unit': 'events',
    }),
    cosigners: z.array(name).describe('Names of the witnesses that have cosigned it'),
  })
  .describe('The newest checkpoint with a quorum of cosignatures')

const witnessesSchema = z
  .strictObject({
    quorum: numberSchema.nullable().meta({
      description: 'Witnesses that must cosign a checkpoint; null for a log without witnesses',
      'x-unit': 'witnesses',
    }),
    witnesses: z
      .array(witness)
      .describe('The witnesses that this service asks. Several keys of one name are one witness'),
    witnessed: witnessed.nullable().describe('Null before the first'),
  })
  .describe('The witnesses of the log')

/** Witnesses of a log, and the newest checkpoint that a quorum of them has cosigned. */
export type Witnesses = Described<typeof witnessesSchema>

/** Rows of the endpoints for the archive's files and the log's own files. */
export const FILE_ENDPOINTS = {
  archive: {
    meaning: 'Every month of the archive, with sizes and digests',
    answer: 'ArchiveIndex',
    schema: archiveIndexSchema,
    parameters: {},
    caching: 'revalidate',
    work: 'brief',
    page: true,
    check: 'compared',
  },
  archiveFile: {
    meaning:
      'A month’s events or details as gzip-compressed JSON lines, both as Parquet, its manifest, or SHA256SUMS',
    answer: 'application/gzip',
    parameters: {},
    problems: ['range-not-satisfiable', 'not-made'],
    caching: 'by-range',
    settled: 'of a closed month',
    work: 'streaming',
    page: false,
    check: 'compared',
  },
  logCheckpoint: {
    meaning: 'The signed size and root of the tree over all events: a C2SP checkpoint',
    answer: 'text/plain',
    format: 'A signed note (C2SP tlog-checkpoint)',
    parameters: {},
    caching: 'revalidate',
    work: 'brief',
    page: false,
    check: 'compared',
  },
  logWitnessedCheckpoint: {
    meaning: 'The newest checkpoint that a quorum of witnesses has cosigned',
    answer: 'text/plain',
    format: 'A signed note (C2SP tlog-checkpoint) with cosignatures (C2SP tlog-cosignature)',
    parameters: {},
    problems: ['not-witnessed'],
    caching: 'revalidate',
    work: 'brief',
    page: false,
    check: { unchecked: 'verify compares it when it is given the keys of witnesses: a log may have none' },
  },
  logTile: {
    meaning: 'Up to 256 hashes of one level of the tree: a C2SP tile',
    answer: 'application/octet-stream',
    parameters: {},
    caching: 'immutable',
    allowance: 'tiles',
    work: 'brief',
    page: false,
    check: { unchecked: 'verify computes every hash itself; it reads tiles to find where two trees part' },
  },
  logEntries: {
    meaning: 'Up to 256 events with their details, as they are hashed: a C2SP entry bundle',
    answer: 'application/octet-stream',
    parameters: {},
    caching: 'immutable',
    allowance: 'tiles',
    work: 'brief',
    page: false,
    check: { unchecked: 'the entries of the archive in another form' },
  },
  logKeys: {
    meaning: 'Every key that signs or ever signed the log, and the logs that it continues',
    answer: 'LogKeys',
    schema: logKeysSchema,
    parameters: {},
    caching: 'revalidate',
    work: 'brief',
    page: false,
    check: {
      unchecked: 'a list proves no key: verify believes one that it is given or that such a key names',
    },
  },
  logWitnesses: {
    meaning: 'The witnesses of the log, up to where each has cosigned it, and how many are a quorum',
    answer: 'Witnesses',
    schema: witnessesSchema,
    parameters: {},
    caching: 'revalidate',
    work: 'brief',
    page: false,
    check: { unchecked: 'a list proves no witness: verify counts the cosignatures of keys that it is given' },
  },
  logProof: {
    meaning:
      'A receipt that an event is in the log: its inclusion proof with the checkpoint, in one C2SP file',
    answer: 'text/plain',
    format: 'C2SP tlog-proof',
    parameters: {
      checkpoint: {
        form: { is: 'one-of', values: RECEIPT_CHECKPOINTS },
        absent: 'newest',
        meaning:
          'The checkpoint of the receipt. witnessed: the newest one that a quorum of witnesses has cosigned',
        example: 'witnessed',
      },
    },
    problems: ['not-witnessed'],
    caching: 'revalidate',
    work: 'brief',
    page: false,
    check: 'compared',
  },
} as const
