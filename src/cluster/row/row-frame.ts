import { assert } from '../../protocol/brand.ts'
import { sha256, type SigningKey } from '../../log/tree/signer.ts'
import type { Hash } from '../../tlog/hash.ts'
import { ROW_BYTES_MAX } from '../table/log-table.ts'
import {
  type CommitRow,
  type LogRow,
  ROW_VERSION,
  type RowRef,
  type RowSegment,
  type RowSignatures,
} from './log-row.ts'
import {
  type CommitRowHead,
  formatRowHead,
  readRowHead,
  ROW_SECTIONS,
  type RowHead,
  type RowSection,
} from './row-head.ts'
import {
  asFields,
  bytesInBase64,
  countField,
  fieldsInJson,
  listField,
  MalformedRow,
  nullableField,
  type RowFields,
  textField,
  textInUtf8,
  wordField,
} from './row-json.ts'
import { type Ms, MS_MAX, msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import {
  type ChainWord,
  formatDraft,
  type HeldChange,
  type HeldDraft,
  parseStoredDraft,
  type EndedDraft,
} from '../../log/held/held-draft.ts'
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { base64urlnopad } from '@scure/base'
import type { VerifierKey } from '../../tlog/note.ts'

// Frame of a row: magic (4 bytes), length of the head (4, big-endian), head (JSON), sections of a commit, bytes of its
// segments, then the signature of the SHA-256 of all bytes before.

const MAGIC = Buffer.from('DBC1')
const LENGTH_BYTES = 4

/** Bytes of the largest head: of a commit a few hundred for each segment, of a first row those of all keys. */
const HEAD_BYTES_MAX: number = 256 * 1024

/** Bytes of the signature of a row. */
export const ROW_SIGNATURE_BYTES = 64

/** Bytes of a frame beside head, sections and segments. */
const FRAME_BYTES: number = MAGIC.length + LENGTH_BYTES + ROW_SIGNATURE_BYTES

/** A row as a key of its log has signed it. */
type SignedRow = Readonly<{
  row: LogRow
  /** SHA-256 of all bytes before the signature. */
  digest: Hash
  signature: Uint8Array
}>

/** The row of some bytes, or why they are none. `unknown-version`: a newer Daybook reads them. */
type DecodedRow =
  | Readonly<{ ok: true; signed: SignedRow }>
  | Readonly<{ ok: false; code: 'undecodable' | 'unknown-version'; reason: string }>

/** SHA-256 of all bytes of a row: the `prev` of the next one. */
export function digestOfRow(bytes: Uint8Array): Hash {
  return sha256(bytes)
}

/** Bytes of a row, signed with a key of its log. */
export function encodeRow(row: LogRow, key: SigningKey): Uint8Array {
  const { head, parts } = partsOf(row)
  const json = Buffer.from(formatRowHead(head))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(json.length)
  const before = Buffer.concat([MAGIC, length, json, ...parts])
  const bytes = Buffer.concat([before, signRow(sha256(before), key)])
  assert(json.length <= HEAD_BYTES_MAX, `the head of a row has ${json.length} bytes`)
  assert(bytes.length <= ROW_BYTES_MAX, `a row has ${bytes.length} bytes`)
  return bytes
}

function partsOf(row: LogRow): Readonly<{ head: RowHead; parts: readonly Uint8Array[] }> {
  if (row.is !== 'commit') return { head: row, parts: [] }
  const sections = formatRowSections(row)
  const { v, logId, place, prev, is, first, root, lines, moved, segments } = row
  const size = (name: RowSection): number => sections[name].length
  const sizes = {
    lines: size('lines'),
    details: size('details'),
    refs: size('refs'),
    held: size('held'),
    signatures: size('signatures'),
    notes: size('notes'),
  }
  const ends = segments.map((segment) => ({ ...segment, bytes: segment.bytes.length }))
  const commit = {
    is,
    first,
    count: lines.length,
    root,
    moved: moved !== null,
    sizes,
    segments: ends,
  } as const
  return {
    head: { v, logId, place, prev, ...commit },
    parts: [...ROW_SECTIONS.map((name) => sections[name]), ...segments.map(({ bytes }) => bytes)],
  }
}

/** Decodes a row. Does not verify its signature. Its parts share the memory of `bytes`. */
export function decodeRow(bytes: Uint8Array): DecodedRow {
  try {
    const frame = readFrame(bytes)
    return typeof frame === 'string' ? newer(frame) : { ok: true, signed: frame }
  } catch (error) {
    const reason = error instanceof MalformedRow ? error.message : 'its content cannot be read'
    return { ok: false, code: 'undecodable', reason }
  }
}

function newer(reason: string): DecodedRow {
  return { ok: false, code: 'unknown-version', reason }
}

/** The row of a frame, or why a newer Daybook is needed. Throws `MalformedRow`. */
function readFrame(bytes: Uint8Array): SignedRow | string {
  if (bytes.length > ROW_BYTES_MAX) throw new MalformedRow(`it has more than ${ROW_BYTES_MAX} bytes`)
  if (bytes.length < FRAME_BYTES) throw new MalformedRow('it is cut')
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const magic = buffer.toString('latin1', 0, MAGIC.length)
  if (magic !== 'DBC1') {
    if (/^DBC\d$/.test(magic)) return `it is of frame version ${magic.slice(-1)}`
    throw new MalformedRow('it does not begin as a row')
  }
  const headAt = MAGIC.length + LENGTH_BYTES
  const headBytes = buffer.readUInt32BE(MAGIC.length)
  const end = bytes.length - ROW_SIGNATURE_BYTES
  if (headBytes > HEAD_BYTES_MAX || headAt + headBytes > end) throw new MalformedRow('its head is cut')
  const json = textInUtf8(bytes.subarray(headAt, headAt + headBytes), 'head')
  const fields = fieldsInJson(json, 'head')
  if (fields['v'] !== ROW_VERSION) return 'its version is none that this Daybook reads'
  const head = readRowHead(fields)
  if (formatRowHead(head) !== json) throw new MalformedRow('head is not in its one form')
  return {
    row: readParts(head, bytes.subarray(headAt + headBytes, end)),
    digest: sha256(bytes.subarray(0, end)),
    signature: bytes.subarray(end),
  }
}

function readParts(head: RowHead, parts: Uint8Array): LogRow {
  if (head.is !== 'commit') {
    if (parts.length > 0) throw new MalformedRow('bytes follow its head')
    return head
  }
  const { v, logId, place, prev, first, root } = head
  let at = 0
  const take = (size: number): Uint8Array => {
    if (at + size > parts.length) throw new MalformedRow('a section is cut')
    at += size
    return parts.subarray(at - size, at)
  }
  const sections = new Map(ROW_SECTIONS.map((name) => [name, take(head.sizes[name])]))
  const segments = head.segments.map((segment): RowSegment => ({ ...segment, bytes: take(segment.bytes) }))
  if (at !== parts.length) throw new MalformedRow('bytes follow its sections')
  const content = readRowSections(
    (name) => sections.get(name) ?? new Uint8Array(0),
    head satisfies CommitRowHead,
  )
  return { v, logId, place, prev, is: 'commit', first, root, segments, ...content }
}

// A section is text: one line for each event or change, each with its newline. An empty line stands for null.

/** Most bytes of a digest of a draft. */
const DIGEST_BYTES_MAX = 32

/** The sections of a commit as bytes. */
export function formatRowSections(commit: CommitRow): Readonly<Record<RowSection, Uint8Array>> {
  const { lines, details, refs, held, moved } = commit
  assert(
    details.length === lines.length && refs.length === lines.length,
    'each event has its lines and its ref',
  )
  return {
    lines: joined(lines),
    details: joined(details.map((line) => line ?? '')),
    refs: joined(refs.map(formatRef)),
    held: joined(held.map(formatHeldChange)),
    signatures: joined((moved?.signatures ?? []).map(({ size, bytes }) => formatSignature(size, bytes))),
    notes: joined((moved?.notes ?? []).map(({ size, note }) => JSON.stringify([size, note]))),
  }
}

/** Reads the sections of a commit with so many events. Throws `MalformedRow`. */
export function readRowSections(
  section: (name: RowSection) => Uint8Array,
  { count, moved }: Readonly<{ count: number; moved: boolean }>,
): Pick<CommitRow, 'lines' | 'details' | 'refs' | 'held' | 'moved'> {
  const of = (name: RowSection): readonly string[] => divided(section(name), name)
  const each = (name: RowSection): readonly string[] => {
    const lines = of(name)
    if (lines.length !== count)
      throw new MalformedRow(`${name} has ${lines.length} lines for ${count} events`)
    return lines
  }
  const signed = { signatures: of('signatures').map(readSignature), notes: of('notes').map(readNote) }
  if (!moved && signed.signatures.length + signed.notes.length > 0) {
    throw new MalformedRow('a commit that was not moved has signatures')
  }
  return {
    lines: each('lines'),
    details: each('details').map((line) => (line === '' ? null : line)),
    refs: each('refs').map(readRef),
    held: of('held').map(readHeldChange),
    moved: moved ? signed : null,
  }
}

function joined(lines: readonly string[]): Uint8Array {
  return Buffer.from(lines.length === 0 ? '' : `${lines.join('\n')}\n`)
}

function divided(bytes: Uint8Array, name: string): readonly string[] {
  if (bytes.length === 0) return []
  const text = textInUtf8(bytes, name)
  if (!text.endsWith('\n')) throw new MalformedRow(`${name} does not end with a newline`)
  return text.slice(0, -1).split('\n')
}

function formatRef(ref: RowRef | null): string {
  return ref === null ? '' : JSON.stringify([ref.ref, base64Of(ref.digest)])
}

function readRef(line: string): RowRef | null {
  if (line === '') return null
  const of = fieldsInJson(line, 'refs')
  const ref = { ref: textField(of, '0'), digest: bytesInBase64(of['1'], 'refs') }
  if (ref.digest.length > DIGEST_BYTES_MAX) throw new MalformedRow('refs has a digest that is too long')
  return inOneForm(ref, formatRef, line, 'refs')
}

function formatSignature(size: number, bytes: Uint8Array): string {
  return JSON.stringify([size, base64Of(bytes)])
}

function readSignature(line: string): RowSignatures['signatures'][number] {
  const of = fieldsInJson(line, 'signatures')
  const signature = { size: countField(of, '0'), bytes: bytesInBase64(of['1'], 'signatures') }
  return inOneForm(signature, ({ size, bytes }) => formatSignature(size, bytes), line, 'signatures')
}

function readNote(line: string): RowSignatures['notes'][number] {
  const of = fieldsInJson(line, 'notes')
  const note = { size: countField(of, '0'), note: textField(of, '1') }
  return inOneForm(note, ({ size, note: text }) => JSON.stringify([size, text]), line, 'notes')
}

/** JSON of a change of held drafts: the members in this order. */
function formatHeldChange(change: HeldChange): string {
  switch (change.is) {
    case 'hold': {
      const { id, draft, acceptedAt, chain, ...later } = change.held
      const sent: unknown = JSON.parse(formatDraft(draft))
      // A new draft has none of these, and a commit may hold thousands.
      const place = later.place ?? undefined
      const settledAt = later.settledAt ?? undefined
      const [vouch, reason] = [later.vouch ?? undefined, later.reason ?? undefined]
      return JSON.stringify({
        is: 'hold',
        id,
        draft: sent,
        acceptedAt,
        chain,
        place,
        settledAt,
        vouch,
        reason,
      })
    }
    case 'change': {
      const { is, ids, chain, place, settledAt, vouch, reason } = change
      return JSON.stringify({ is, ids, chain, place, settledAt, vouch, reason })
    }
    case 'remove':
      return JSON.stringify({ is: change.is, ids: change.ids })
    case 'settle': {
      const { is, ids, state, settledAt, place, reason } = change
      return JSON.stringify({ is, ids, state, settledAt, place, reason })
    }
    case 'vouch':
      return JSON.stringify({ is: change.is, seq: change.seq, reason: change.reason, at: change.at })
    case 'chain':
      return JSON.stringify({ is: change.is, id: change.id })
  }
}

const CHANGES = [
  'hold',
  'change',
  'remove',
  'settle',
  'vouch',
  'chain',
] as const satisfies readonly HeldChange['is'][]
const WORDS = ['asked', 'final', 'vouched', 'none'] as const satisfies readonly ChainWord[]
const STATES = ['failed', 'dropped'] as const satisfies readonly EndedDraft['state'][]

function readHeldChange(line: string): HeldChange {
  const of = fieldsInJson(line, 'held')
  return inOneForm(readChange(of), formatHeldChange, line, 'held')
}

function readChange(of: RowFields): HeldChange {
  const is = wordField(of, 'is', CHANGES)
  switch (is) {
    case 'hold':
      return { is, held: readHeld(of) }
    case 'change':
      return { is, ids: idsIn(of), ...changeableIn(of) }
    case 'remove':
      return { is, ids: idsIn(of) }
    case 'settle':
      return {
        is,
        ids: idsIn(of),
        state: wordField(of, 'state', STATES),
        settledAt: momentIn(of, 'settledAt'),
        place: nullableField(of, 'place', textField),
        reason: textField(of, 'reason'),
      }
    case 'vouch':
      return {
        is,
        seq: seqOf(countField(of, 'seq', 1)),
        reason: textField(of, 'reason'),
        at: momentIn(of, 'at'),
      }
    case 'chain':
      return { is, id: textField(of, 'id') }
  }
}

function readHeld(of: RowFields): HeldDraft {
  const ref = textField(asFields(of['draft'], 'draft'), 'ref')
  return {
    id: countField(of, 'id', 1),
    ref,
    draft: draftIn(of, ref),
    acceptedAt: momentIn(of, 'acceptedAt'),
    ...changeableIn({ ...NOTHING_LATER, ...of }),
  }
}

const NOTHING_LATER = { place: null, settledAt: null, vouch: null, reason: null } as const

function draftIn(of: RowFields, ref: string): HeldDraft['draft'] {
  try {
    return parseStoredDraft(JSON.stringify(of['draft']), ref)
  } catch {
    throw new MalformedRow('draft is no draft')
  }
}

function changeableIn(of: RowFields): Omit<HeldDraft, 'id' | 'ref' | 'draft' | 'acceptedAt'> {
  return {
    chain: wordField(of, 'chain', WORDS),
    place: nullableField(of, 'place', textField),
    settledAt: nullableField(of, 'settledAt', momentIn),
    vouch: nullableField(of, 'vouch', textField),
    reason: nullableField(of, 'reason', textField),
  }
}

function idsIn(of: RowFields): readonly number[] {
  const ids = listField(of, 'ids')
  return ids.map((_, index) => countField({ ids: ids[index] }, 'ids', 1))
}

function momentIn(of: RowFields, name: string): Ms {
  const ms = countField(of, name)
  if (ms > MS_MAX) throw new MalformedRow(`${name} is no moment`)
  return msOf(ms)
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Refuses a line that is not written as Daybook writes the value, so that a row has one form. */
function inOneForm<Value>(value: Value, format: (value: Value) => string, line: string, name: string): Value {
  if (format(value) !== line) throw new MalformedRow(`${name} has a line that is not in its one form`)
  return value
}

// The key of a row also signs checkpoints and statements about keys. Without a context of its own, bytes that somebody had
// signed as one could pass for the other.
const CONTEXT = Buffer.from('daybook/commit/v1\n')

/** Signature of the row whose bytes before it have this SHA-256. */
export function signRow(digest: Hash, { privateKey }: SigningKey): Uint8Array {
  return sign(null, Buffer.concat([CONTEXT, digest]), privateKey)
}

/** Tells rows of a log from foreign ones. */
export type RowVerifier = Readonly<{
  /** Reason why a row is foreign; null when one of the keys has signed it. */
  refusalOf(signed: Readonly<{ digest: Hash; signature: Uint8Array }>): string | null
}>

/** Opens the verifier for rows that any of these keys may have signed. */
export function openRowVerifier(keys: readonly VerifierKey[]): RowVerifier {
  const known = keys.map(({ publicKey }) => publicKeyOf(publicKey))
  return {
    refusalOf({ digest, signature }) {
      const text = Buffer.concat([CONTEXT, digest])
      return known.some((key) => verify(null, text, key, signature))
        ? null
        : 'no key of the log has signed it'
    },
  }
}

function publicKeyOf(publicKey: Uint8Array): KeyObject {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: base64urlnopad.encode(publicKey) }
  return createPublicKey({ key: jwk, format: 'jwk' })
}
