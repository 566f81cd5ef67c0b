import { z } from 'zod'
import { MIRROR_STATES, MIRROR_WAITS, WITNESS_STATES } from './enumerations.ts'
import {
  asOfSchema,
  type Described,
  momentOrNull,
  momentSchema,
  now,
  numberSchema,
  seq,
  textSchema,
} from './resource-fields.ts'

// JSON answers of /api/v1 about the service: its status, its keys and its witnesses. As in `resources.ts`, each is a
// schema.

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

export const logKeysSchema = z
  .strictObject({
    origin,
    logId: textSchema.describe('The log’s id'),
    keys: z.array(signedBy).describe('All keys that sign or have signed the log'),
    formerLogs: z.array(formerLog).describe('Logs that this one continues'),
  })
  .describe('The keys of the log')

/** All keys that sign or have signed the log, and the former logs that it continues. */
export type LogKeys = Described<typeof logKeysSchema>

const count = (meaning: string) => numberSchema.meta({ description: meaning, 'x-unit': 'drafts' })

const finalitySchema = z
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

/** Drafts that wait for the blockchain, and those that the operator decided: counts and ages only. */
export type Finality = Described<typeof finalitySchema>

const upstreamMirrorSchema = z
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

/** A mirror between this one and the log’s own service, by the word of the nearer one. */
export type UpstreamMirror = Described<typeof upstreamMirrorSchema>

const mirrorSchema = z
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
      .array(upstreamMirrorSchema)
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

/** Report of a mirror about itself. */
export type Mirror = Described<typeof mirrorSchema>

export const statusSchema = z
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
    finality: finalitySchema,
    mirror: mirrorSchema.nullable().describe('Null on a node that is no mirror'),
  })
  .describe('The head of the log, and this node')

export type Status = Described<typeof statusSchema>

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

export const witnessesSchema = z
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
