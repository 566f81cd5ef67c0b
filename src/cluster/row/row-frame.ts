import { assert } from '../../protocol/brand.ts'
import { sha256, type SigningKey } from '../../log/tree/signer.ts'
import type { Hash } from '../../tlog/hash.ts'
import { ROW_BYTES_MAX } from '../table/log-table.ts'
import { type LogRow, ROW_VERSION, type RowSegment } from './log-row.ts'
import {
  type CommitRowHead,
  formatRowHead,
  readRowHead,
  ROW_SECTIONS,
  type RowHead,
  type RowSection,
} from './row-head.ts'
import { fieldsInJson, MalformedRow, textInUtf8 } from './row-json.ts'
import { formatRowSections, readRowSections } from './row-sections.ts'
import { ROW_SIGNATURE_BYTES, signRow } from './row-signature.ts'

// Frame of a row: magic (4 bytes), length of the head (4, big-endian), head (JSON), sections of a commit, bytes of its
// segments, then the signature of the SHA-256 of all bytes before.

const MAGIC = Buffer.from('DBC1')
const LENGTH_BYTES = 4

/** Bytes of the largest head: of a commit a few hundred for each segment, of a first row those of all keys. */
const HEAD_BYTES_MAX: number = 256 * 1024

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
