import { sign } from 'node:crypto'
import type { NodeSigner, NodeVerifier } from '../../log/message/node-key.ts'
import { sha256 } from '../../log/tree/signer.ts'
import type { WriterMark } from './writer-mark.ts'
import { formatMark, parseMark } from './writer-mark.ts'

/** Keys of a node's marks, which are those of its messages: its own, and what tells the log's nodes from strangers. */
export type MarkKeys = Readonly<{ node: NodeSigner; verifier: NodeVerifier }>

/** A mark and the key that has signed it, as text. */
export type OpenedMark = Readonly<{ mark: WriterMark; key: string }>

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const SEAL_BYTES = KEY_BYTES + 2 * SIGNATURE_BYTES
/** No message begins with this text, so a signature of a mark is never one of a message. */
const PURPOSE = new TextEncoder().encode('daybook mark\n')

/** Signs a mark: its JSON, then public key, certificate and signature of the node. */
export function sealMark(mark: WriterMark, { node }: Pick<MarkKeys, 'node'>): Uint8Array {
  const { key, certificate } = node
  const signed = Buffer.concat([formatMark(mark), key.publicKey, certificate])
  return Buffer.concat([signed, sign(null, digestOf(signed), key.privateKey)])
}

/** Reads a signed mark. Null unless a node of this log has signed it for this log. */
export function openMark(
  bytes: Uint8Array,
  logId: string,
  { verifier }: Pick<MarkKeys, 'verifier'>,
): OpenedMark | null {
  const end = bytes.length - SEAL_BYTES
  const mark = end > 0 ? parseMark(bytes.subarray(0, end)) : null
  // The cheap checks come first: a stranger can send many.
  if (mark === null || mark.logId !== logId) return null
  const publicKey = bytes.subarray(end, end + KEY_BYTES)
  const certificate = bytes.subarray(end + KEY_BYTES, end + KEY_BYTES + SIGNATURE_BYTES)
  const digest = digestOf(bytes.subarray(0, end + KEY_BYTES + SIGNATURE_BYTES))
  const signature = bytes.subarray(end + KEY_BYTES + SIGNATURE_BYTES)
  if (verifier.refusalOf({ publicKey, certificate, digest, signature }) !== null) return null
  return { mark, key: Buffer.from(publicKey).toString('base64url') }
}

const digestOf = (signed: Uint8Array): Uint8Array => sha256(Buffer.concat([PURPOSE, signed]))
