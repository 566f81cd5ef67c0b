import { z } from 'zod'
import { WITNESS_STATES, type Witnesses } from '../../protocol/endpoints/witnesses-resource.ts'
import { momentOrNull, momentSchema, numberSchema, seq, textSchema } from './field-schemas.ts'

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

export const witnessesSchema: z.ZodType<Witnesses> = z
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
