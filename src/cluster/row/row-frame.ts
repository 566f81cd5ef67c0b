import { assert } from '../../protocol/brand.ts'
import { sha256, type SigningKey } from '../../log/tree/signer.ts'
import type { Hash } from '../../tlog/hash.ts'
import { ROW_BYTES_MAX } from '../table/log-table.ts'
import type { CommitRow, LogRow, RowSegment } from './log-row.ts'
import {
  HEAD_FORM,
  HELD_FORM,
  MalformedRow,
  NOTE_FORM,
  REF_FORM,
  ROW_SECTIONS,
  type RowHead,
  SIGNATURE_FORM,
} from './row-json.ts'
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { base64urlnopad } from '@scure/base'
import type { VerifierKey } from '../../tlog/note.ts'

// Frame of a row: magic (4 bytes), length of the head (4, big-endian), head (JSON), sections of a commit, bytes of its
// segments. Last comes the signature of the SHA-256 of all earlier bytes.

const MAGIC = Buffer.from('DBC1')
const LENGTH_BYTES = 4

/** Bytes of the largest head. A commit has a few hundred for each segment; a first row has all keys. */
const HEAD_BYTES_MAX: number = 256 * 1024

/** Bytes of the signature of a row. */
export const ROW_SIGNATURE_BYTES = 64

/** Bytes of a frame besides head, sections and segments. */
const FRAME_BYTES: number = MAGIC.length + LENGTH_BYTES + ROW_SIGNATURE_BYTES

/** Row with the signature by a key of its log. */
type SignedRow = Readonly<{
  row: LogRow
  /** SHA-256 of all bytes before the signature. */
  digest: Hash
  signature: Uint8Array
}>

/** Decoded row, or the reason for a failure. `unknown-version`: a newer Daybook can read it. */
type DecodedRow =
  | Readonly<{ ok: true; signed: SignedRow }>
  | Readonly<{ ok: false; code: 'undecodable' | 'unknown-version'; reason: string }>

/** SHA-256 of all bytes of a row, which is the `prev` of the next one. */
export function digestOfRow(bytes: Uint8Array): Hash {
  return sha256(bytes)
}

/** Bytes of a row, signed with a key of its log. */
export function encodeRow(row: LogRow, key: SigningKey): Uint8Array {
  const { head, parts } = partsOf(row)
  const json = Buffer.from(HEAD_FORM.format(head))
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
  const { lines, moved, segments, ...commit } = row
  const head = {
    ...commit,
    count: lines.length,
    moved: moved !== null,
    sizes: sections.map(({ length }) => length),
    segments: segments.map((segment) => ({ ...segment, bytes: segment.bytes.length })),
  }
  return { head, parts: [...sections, ...segments.map(({ bytes }) => bytes)] }
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

/** Row of a frame, or the text that a newer Daybook is needed. Throws `MalformedRow`. */
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
  const [, version = '1'] = /^\{"v":(\d+)[,}]/.exec(json) ?? []
  if (version !== '1') return 'its version is none that this Daybook reads'
  const head = HEAD_FORM.read(json)
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
  const sections = head.sizes.map(take)
  const segments = head.segments.map((segment): RowSegment => ({ ...segment, bytes: take(segment.bytes) }))
  if (at !== parts.length) throw new MalformedRow('bytes follow its sections')
  const content = readRowSections(sections, head)
  return { v, logId, place, prev, is: 'commit', first, root, segments, ...content }
}

// A section is text: one line for each event or change, with its newline. An empty line means null.

/** The sections of a commit as bytes, in the order of `ROW_SECTIONS`. */
export function formatRowSections({ lines, details, refs, held, moved }: CommitRow): readonly Uint8Array[] {
  assert(
    details.length === lines.length && refs.length === lines.length,
    'each event has its lines and its ref',
  )
  return [
    lines,
    details.map((line) => line ?? ''),
    refs.map((ref) => (ref === null ? '' : REF_FORM.format(ref))),
    held.map(HELD_FORM.format),
    (moved?.signatures ?? []).map(SIGNATURE_FORM.format),
    (moved?.notes ?? []).map(NOTE_FORM.format),
  ].map((section) => Buffer.from(section.map((line) => `${line}\n`).join('')))
}

/** Reads the sections of a commit with this many events. Throws `MalformedRow`. */
export function readRowSections(
  sections: readonly Uint8Array[],
  { count, moved }: Readonly<{ count: number; moved: boolean }>,
): Pick<CommitRow, 'lines' | 'details' | 'refs' | 'held' | 'moved'> {
  const [lines = [], details = [], refs = [], held = [], signatures = [], notes = []] = sections.map(
    (bytes, index) => linesOf(bytes, ROW_SECTIONS[index] ?? ''),
  )
  for (const [index, each] of [lines, details, refs].entries()) {
    if (each.length !== count)
      throw new MalformedRow(`${ROW_SECTIONS[index]} has ${each.length} lines for ${count} events`)
  }
  if (!moved && signatures.length + notes.length > 0)
    throw new MalformedRow('a commit that was not moved has signatures')
  return {
    lines,
    details: details.map((line) => (line === '' ? null : line)),
    refs: refs.map((line) => (line === '' ? null : REF_FORM.read(line))),
    held: held.map(HELD_FORM.read),
    moved: moved
      ? { signatures: signatures.map(SIGNATURE_FORM.read), notes: notes.map(NOTE_FORM.read) }
      : null,
  }
}

function linesOf(bytes: Uint8Array, name: string): readonly string[] {
  if (bytes.length === 0) return []
  const text = textInUtf8(bytes, name)
  if (!text.endsWith('\n')) throw new MalformedRow(`${name} does not end with a newline`)
  return text.slice(0, -1).split('\n')
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textInUtf8(bytes: Uint8Array, name: string): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new MalformedRow(`${name} is not UTF-8`)
  }
}

// The key of a row also signs checkpoints and statements about keys. The context ensures that bytes signed for one
// purpose cannot pass for another.
const CONTEXT = Buffer.from('daybook/commit/v1\n')

/** Signature of the row. `digest` is the SHA-256 of all bytes before it. */
export function signRow(digest: Hash, { privateKey }: SigningKey): Uint8Array {
  return sign(null, Buffer.concat([CONTEXT, digest]), privateKey)
}

/** Tells rows of a log from foreign ones. */
export type RowVerifier = Readonly<{
  /** Reason why a row does not belong to the log; null when one of the keys has signed it. */
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
