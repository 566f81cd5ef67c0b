import { parseWhole } from '../protocol/seq.ts'
import { readCheckpoint } from './checkpoint.ts'
import { type Hash, isHash } from './hash.ts'
import { formatBase64, formatUtf8, NOTE_BYTES_MAX, parseBase64, parseUtf8 } from './note.ts'
import { doubted, proved, type Verdict } from './verdict.ts'

/** Hashes of the longest accepted inclusion proof; a tree of 2^53−1 leaves needs 53. */
const PROOF_HASHES_MAX = 63
/** Bytes of the longest accepted extra data of a receipt. */
const EXTRA_BYTES_MAX = 65_536
/** Bytes of the longest accepted receipt. */
export const RECEIPT_BYTES_MAX = 524_288

const HEADER = 'c2sp.org/tlog-proof@v1'

/**
 * Self-contained proof that a leaf is in a log (`c2sp.org/tlog-proof@v1`, suffix `.tlog-proof`). It has the leaf's
 * index from 0, its inclusion proof, and the signed checkpoint as served. `extra` is not authenticated.
 */
export type InclusionReceipt = Readonly<{
  index: number
  proof: readonly Hash[]
  checkpoint: string
  extra: Uint8Array | null
}>

/** Formats a receipt. Throws a `RangeError` where `parseReceipt` would refuse the result. */
export function formatReceipt({ index, proof, checkpoint, extra }: InclusionReceipt): string {
  const isWhole = Number.isSafeInteger(index) && index >= 0 && proof.every(isHash)
  const isSigned = readCheckpoint(formatUtf8(checkpoint)).ok
  const isShort = proof.length <= PROOF_HASHES_MAX && (extra?.length ?? 0) <= EXTRA_BYTES_MAX
  if (!isWhole || !isSigned || !isShort) {
    throw new RangeError(`a receipt has an index, up to ${PROOF_HASHES_MAX} hashes and a signed checkpoint`)
  }
  const extras = extra === null ? [] : [`extra ${formatBase64(extra)}`]
  const lines = [HEADER, ...extras, `index ${index}`, ...proof.map(formatBase64), '', '']
  return lines.join('\n') + checkpoint
}

/** Parses a receipt without verifying its proof or its signatures. */
export function parseReceipt(bytes: Uint8Array): Verdict<InclusionReceipt> {
  if (bytes.length > RECEIPT_BYTES_MAX) return doubted('receipt-too-long')
  const text = parseUtf8(bytes)
  const blank = text?.indexOf('\n\n') ?? -1
  if (text === undefined || blank < 0) return doubted('receipt-malformed')
  const checkpoint = text.slice(blank + 2)
  const lines = text.slice(0, blank).split('\n')
  const hasExtra = lines[1]?.startsWith('extra ') === true
  const extra = hasExtra ? parseBase64(lines[1]?.slice('extra '.length) ?? '') : null
  const [named = '', ...encoded] = lines.slice(hasExtra ? 2 : 1)
  const index = named.startsWith('index ') ? parseWhole(named.slice('index '.length)) : undefined
  const proof = parseProof(encoded)
  const isReceipt = lines[0] === HEADER && readCheckpoint(formatUtf8(checkpoint)).ok
  if (!isReceipt || index === undefined || extra === undefined || proof === undefined) {
    return doubted('receipt-malformed')
  }
  const isShort = extra === null || extra.length <= EXTRA_BYTES_MAX
  return isShort ? proved({ index, proof, checkpoint, extra }) : doubted('receipt-too-long')
}

function parseProof(lines: readonly string[]): readonly Hash[] | undefined {
  if (lines.length > PROOF_HASHES_MAX) return undefined
  const hashes: Hash[] = []
  for (const line of lines) {
    const hash = parseBase64(line)
    if (hash === undefined || !isHash(hash)) return undefined
    hashes.push(hash)
  }
  return hashes
}

// A receipt may have the maximum length in every part.
const RECEIPT_ROOM = 4 * Math.ceil(EXTRA_BYTES_MAX / 3) + 64 * PROOF_HASHES_MAX + NOTE_BYTES_MAX
if (RECEIPT_ROOM > RECEIPT_BYTES_MAX)
  throw new RangeError('RECEIPT_BYTES_MAX is less than the sum of the longest parts')
