import { sign } from 'node:crypto'
import { assert } from '../../protocol/brand.ts'
import type { Hash } from '../../tlog/hash.ts'
import { sha256 } from '../tree/signer.ts'
import { formatSections, readSections } from './commit-sections.ts'
import type { CarriedSegment, Message } from './message.ts'
import { MESSAGE_VERSION } from './message.ts'
import type { CommitHead, MessageHead, SectionName } from './message-head.ts'
import { formatHead, readHead, SECTIONS } from './message-head.ts'
import type { NodeSigner } from './node-key.ts'
import { objectOfJson, Malformed, textOfUtf8 } from './strict-json.ts'

// Frame of a message: magic (4 bytes), length of the head (4, big-endian), head (JSON), sections of a commit, bytes of
// its segments, then the node's public key, its certificate and its signature of the SHA-256 of all bytes before.

const MAGIC = Buffer.from('DBM1')
const LENGTH_BYTES = 4
const PUBLIC_KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const TAIL_BYTES = PUBLIC_KEY_BYTES + 2 * SIGNATURE_BYTES

/** Bytes of the largest message. */
export const FRAME_BYTES_MAX: number = 4 * 1024 * 1024

/** Bytes of the largest head: of a commit a few hundred for each segment, of a genesis those of all keys. */
const HEAD_BYTES_MAX: number = 256 * 1024

/** Bytes of a frame beside head, sections and segments. */
const FRAME_BYTES: number = MAGIC.length + LENGTH_BYTES + TAIL_BYTES

/** A message as its node has signed it. */
type SignedMessage = Readonly<{
  message: Message
  publicKey: Uint8Array
  certificate: Uint8Array
  /** SHA-256 of all bytes before the signature. */
  digest: Hash
  signature: Uint8Array
}>

/** The message of some bytes, or why they are none. `unknown-version`: a newer Daybook reads them. */
type DecodedMessage =
  | Readonly<{ ok: true; signed: SignedMessage }>
  | Readonly<{ ok: false; code: 'undecodable' | 'unknown-version'; reason: string }>

/** SHA-256 of all bytes of a message: the `prev` of the next one. */
export function digestOfMessage(bytes: Uint8Array): Hash {
  return sha256(bytes)
}

/** Bytes of a message, signed by its node. */
export function encodeMessage(message: Message, node: NodeSigner): Uint8Array {
  const { head, parts } = partsOf(message)
  const json = Buffer.from(formatHead(head))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(json.length)
  const before = Buffer.concat([MAGIC, length, json, ...parts, node.key.publicKey, node.certificate])
  const bytes = Buffer.concat([before, sign(null, sha256(before), node.key.privateKey)])
  assert(json.length <= HEAD_BYTES_MAX, `the head of a message has ${json.length} bytes`)
  assert(bytes.length <= FRAME_BYTES_MAX, `a message has ${bytes.length} bytes`)
  return bytes
}

function partsOf(message: Message): Readonly<{ head: MessageHead; parts: readonly Uint8Array[] }> {
  if (message.is !== 'commit') return { head: message, parts: [] }
  const sections = formatSections(message)
  const { v, logId, stream, place, prev, is, first, root, lines, moved, segments } = message
  const size = (name: SectionName): number => sections[name].length
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
    head: { v, logId, stream, place, prev, ...commit },
    parts: [...SECTIONS.map((name) => sections[name]), ...segments.map(({ bytes }) => bytes)],
  }
}

/** Decodes a message. Does not verify its signature. Its parts share the memory of `bytes`. */
export function decodeMessage(bytes: Uint8Array): DecodedMessage {
  try {
    const frame = readFrame(bytes)
    return typeof frame === 'string' ? newer(frame) : { ok: true, signed: frame }
  } catch (error) {
    const reason = error instanceof Malformed ? error.message : 'its content cannot be read'
    return { ok: false, code: 'undecodable', reason }
  }
}

function newer(reason: string): DecodedMessage {
  return { ok: false, code: 'unknown-version', reason }
}

/** The message of a frame, or why a newer Daybook is needed. Throws `Malformed`. */
function readFrame(bytes: Uint8Array): SignedMessage | string {
  if (bytes.length > FRAME_BYTES_MAX) throw new Malformed(`it has more than ${FRAME_BYTES_MAX} bytes`)
  if (bytes.length < FRAME_BYTES) throw new Malformed('it is cut')
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const magic = buffer.toString('latin1', 0, MAGIC.length)
  if (magic !== 'DBM1') {
    if (/^DBM\d$/.test(magic)) return `it is of frame version ${magic.slice(-1)}`
    throw new Malformed('it does not begin as a message')
  }
  const headAt = MAGIC.length + LENGTH_BYTES
  const headBytes = buffer.readUInt32BE(MAGIC.length)
  const end = bytes.length - TAIL_BYTES
  if (headBytes > HEAD_BYTES_MAX || headAt + headBytes > end) throw new Malformed('its head is cut')
  const json = textOfUtf8(bytes.subarray(headAt, headAt + headBytes), 'head')
  const fields = objectOfJson(json, 'head')
  if (fields['v'] !== MESSAGE_VERSION) return 'its version is none that this Daybook reads'
  const head = readHead(fields)
  if (formatHead(head) !== json) throw new Malformed('head is not in its one form')
  const message = readParts(head, bytes.subarray(headAt + headBytes, end))
  const signatureAt = bytes.length - SIGNATURE_BYTES
  return {
    message,
    publicKey: bytes.subarray(end, end + PUBLIC_KEY_BYTES),
    certificate: bytes.subarray(end + PUBLIC_KEY_BYTES, signatureAt),
    digest: sha256(bytes.subarray(0, signatureAt)),
    signature: bytes.subarray(signatureAt),
  }
}

function readParts(head: MessageHead, parts: Uint8Array): Message {
  if (head.is !== 'commit') {
    if (parts.length > 0) throw new Malformed('bytes follow its head')
    return head
  }
  const { v, logId, stream, place, prev, first, root } = head
  let at = 0
  const take = (size: number): Uint8Array => {
    if (at + size > parts.length) throw new Malformed('a section is cut')
    at += size
    return parts.subarray(at - size, at)
  }
  const sections = new Map(SECTIONS.map((name) => [name, take(head.sizes[name])]))
  const segments = head.segments.map((segment): CarriedSegment => ({
    ...segment,
    bytes: take(segment.bytes),
  }))
  if (at !== parts.length) throw new Malformed('bytes follow its sections')
  const content = readSections((name) => sections.get(name) ?? new Uint8Array(0), head satisfies CommitHead)
  return { v, logId, stream, place, prev, is: 'commit', first, root, segments, ...content }
}
