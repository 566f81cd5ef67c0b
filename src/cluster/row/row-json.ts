import { z } from 'zod'
import { formatDraft, parseStoredDraft } from '../../log/held/held-draft.ts'
import { MONTH_FILES } from '../../log/store/archive-tables.ts'
import type { Draft } from '../../protocol/draft.ts'
import { type Month, type Ms, MS_MAX, msOf, parseMonth } from '../../protocol/moment.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'
import {
  type CommitRow,
  type HeldChange,
  ROW_VERSION,
  type RowBody,
  type RowPlace,
  type RowRef,
  type RowSegment,
  type RowSignatures,
} from './log-row.ts'

// JSON of a row: its head, and the lines of its sections. Each value has one form: fields in the order of the schemas,
// without spaces. Bytes are hexadecimal or base64.

/** Error for bytes that are no row, thrown during decoding. The text names the part at fault. */
export class MalformedRow extends Error {
  override readonly name = 'MalformedRow'
}

/** Sections of a commit, in their order. */
export const ROW_SECTIONS = ['lines', 'details', 'refs', 'held', 'signatures', 'notes'] as const

/** Head of a commit, without its sections. `sizes` has the bytes of each section. */
type CommitRowHead = Pick<CommitRow, 'is' | 'first' | 'root'> &
  Readonly<{
    count: number
    moved: boolean
    sizes: readonly number[]
    segments: readonly (Omit<RowSegment, 'bytes'> & Readonly<{ bytes: number }>)[]
  }>
export type RowHead = RowPlace & (CommitRowHead | Exclude<RowBody, { is: 'commit' }>)

/** Most bytes of a digest of a draft. */
const DIGEST_BYTES_MAX = 32

const count = z.int().min(0)
const position = z.int().min(1)
const text = z.string()
const textOrNull = text.nullable()
const moment = z.codec(count.max(MS_MAX), z.custom<Ms>(), { decode: msOf, encode: (ms) => ms })
const seq = z.codec(position, z.custom<Seq>(), { decode: seqOf, encode: (of) => of })
const hash = bytesIn('hex', z.string().regex(/^[0-9a-f]{64}$/))
const base64 = bytesIn('base64', text)
const month = z.codec(text, z.custom<Month>(), {
  decode(written) {
    const found = parseMonth(written)
    if (found === undefined) throw new MalformedRow('month is no month')
    return found
  },
  encode: (of) => of,
})

function bytesIn(encoding: 'hex' | 'base64', form: z.ZodString) {
  return z.codec(form, z.custom<Uint8Array>(), {
    decode: (written) => Buffer.from(written, encoding),
    encode: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding),
  })
}

const former = z.object({ id: text, origin: text, size: count })
const identity = z.object({
  id: text,
  origin: text,
  chain: z.enum(['solana', 'evm', 'opaque']),
  simulated: z.boolean(),
  former: z.array(former).readonly(),
})
const listedKey = z.object({
  vkey: text,
  fromSize: count,
  toSize: count.nullable(),
  statement: textOrNull,
})
const keys = z.array(listedKey).readonly()
const segment = z.object({ month, file: z.enum(MONTH_FILES), start: count, bytes: count })

const placed = <Is extends RowHead['is']>(is: Is) => ({
  v: z.literal(ROW_VERSION),
  is: z.literal(is),
  logId: text,
  place: position,
  prev: hash,
})
const head = z.discriminatedUnion('is', [
  z.object({ ...placed('begin'), identity, keys }),
  z.object({
    ...placed('commit'),
    first: position,
    count,
    root: hash,
    moved: z.boolean(),
    sizes: z.array(count).length(ROW_SECTIONS.length).readonly(),
    segments: z.array(segment).readonly(),
  }),
  z.object({ ...placed('keys'), head: count, keys }),
  z.object({ ...placed('end'), head: count, root: hash, nonce: hash }),
])

/** Only form of a value in JSON. `read` throws `MalformedRow` for any other. */
type RowForm<Value> = Readonly<{ format(value: Value): string; read(json: string): Value }>

function formOf<Schema extends z.ZodType>(schema: Schema, name: string): RowForm<z.output<Schema>> {
  const format = (value: z.output<Schema>): string => JSON.stringify(z.encode(schema, value))
  return {
    format,
    read(json) {
      let value: z.output<Schema>
      try {
        value = schema.parse(JSON.parse(json))
      } catch {
        throw new MalformedRow(`${name} cannot be read`)
      }
      if (format(value) !== json) throw new MalformedRow(`${name} is not in its one form`)
      return value
    },
  }
}

export const HEAD_FORM: RowForm<RowHead> = formOf(head, 'head')

const ref = z.codec(
  z.tuple([text, base64.refine(({ length }) => length <= DIGEST_BYTES_MAX)]),
  z.custom<RowRef>(),
  {
    decode: ([name, digest]) => ({ ref: name, digest }),
    encode: (of): [string, Uint8Array] => [of.ref, of.digest],
  },
)
const signature = z.codec(z.tuple([count, base64]), z.custom<RowSignatures['signatures'][number]>(), {
  decode: ([size, bytes]) => ({ size, bytes }),
  encode: ({ size, bytes }): [number, Uint8Array] => [size, bytes],
})
const note = z.codec(z.tuple([count, text]), z.custom<RowSignatures['notes'][number]>(), {
  decode: ([size, signed]) => ({ size, note: signed }),
  encode: (of): [number, string] => [of.size, of.note],
})

export const REF_FORM: RowForm<RowRef> = formOf(ref, 'refs')
export const SIGNATURE_FORM: RowForm<RowSignatures['signatures'][number]> = formOf(signature, 'signatures')
export const NOTE_FORM: RowForm<RowSignatures['notes'][number]> = formOf(note, 'notes')

const chain = z.enum(['asked', 'final', 'vouched', 'none'])
const ids = z.array(position).readonly()
const draft = z.codec(z.looseObject({ ref: text }), z.custom<Draft>(), {
  decode: (sent) => parseStoredDraft(JSON.stringify(sent), sent.ref),
  encode: (of) => JSON.parse(formatDraft(of)),
})
// Null has no field, because a new draft has none of these, and a commit may hold thousands.
const orNone = <Wire extends z.ZodType>(of: Wire) =>
  z.codec(of.optional(), z.custom<z.output<Wire> | null>(), {
    decode: (value) => value ?? null,
    encode: (value) => value ?? undefined,
  })
const change = z.discriminatedUnion('is', [
  z.object({
    is: z.literal('hold'),
    id: position,
    draft,
    acceptedAt: moment,
    chain,
    place: orNone(text),
    settledAt: orNone(moment),
    vouch: orNone(text),
    reason: orNone(text),
  }),
  z.object({
    is: z.literal('change'),
    ids,
    chain,
    place: textOrNull,
    settledAt: moment.nullable(),
    vouch: textOrNull,
    reason: textOrNull,
  }),
  z.object({ is: z.literal('remove'), ids }),
  z.object({
    is: z.literal('settle'),
    ids,
    state: z.enum(['failed', 'dropped']),
    settledAt: moment,
    place: textOrNull,
    reason: text,
  }),
  z.object({ is: z.literal('vouch'), seq, reason: text, at: moment }),
  z.object({ is: z.literal('chain'), id: text }),
])

const changeForm = formOf(change, 'held')

/** Changes of held drafts. A draft that is held has its ref inside. */
export const HELD_FORM: RowForm<HeldChange> = {
  format: (of) => changeForm.format(of.is === 'hold' ? { is: 'hold', ...of.held } : of),
  read(json) {
    const of = changeForm.read(json)
    if (of.is !== 'hold') return of
    const { is, ...held } = of
    return { is, held: { ...held, ref: held.draft.ref ?? '' } }
  },
}
