import type { OpenedCheckpoint, TrustedLog } from './checkpoint.ts'
import { openCheckpoint, readCheckpoint } from './checkpoint.ts'
import type { Hash, TreeHasher } from './hash.ts'
import { isHash } from './hash.ts'
import { isIncluded } from './inclusion.ts'
import { NOTE_BYTES_MAX } from './note.ts'
import type { VerifyEd25519 } from './signature.ts'
import { formatBase64, formatUtf8, parseBase64, parseDecimal, parseUtf8 } from './text.ts'
import type { Verdict } from './verdict.ts'
import { doubted, proved } from './verdict.ts'

/** Hashes of the longest inclusion proof that is read: a tree of 2^53−1 leaves needs 53. */
export const PROOF_HASHES_MAX = 63
/** Bytes of the extra data of a receipt, at most. */
export const EXTRA_BYTES_MAX = 65_536
/** Bytes of the longest receipt that is read. */
export const RECEIPT_BYTES_MAX = 524_288

const HEADER = 'c2sp.org/tlog-proof@v1'

/**
 * A self-contained proof that a leaf is in a log (`c2sp.org/tlog-proof@v1`, suffix `.tlog-proof`): the leaf's index
 * from 0, its inclusion proof, and the signed checkpoint as it was served. `extra` is not authenticated.
 */
export type InclusionReceipt = Readonly<{
  index: number
  proof: readonly Hash[]
  checkpoint: string
  extra: Uint8Array | null
}>

/** What of an event is proved: the checkpoint that holds it, and its index. */
export type Proved = OpenedCheckpoint & Readonly<{ index: number }>

/** The text of a receipt. One that `parseReceipt` would not read is a `RangeError`. */
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

/** The receipt in these bytes; nothing is verified. */
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
  const index = named.startsWith('index ') ? parseDecimal(named.slice('index '.length)) : undefined
  const proof = parseProof(encoded)
  const isReceipt = lines[0] === HEADER && readCheckpoint(formatUtf8(checkpoint)).ok
  if (!isReceipt || index === undefined || extra === undefined || proof === undefined) {
    return doubted('receipt-malformed')
  }
  const isShort = extra === null || extra.length <= EXTRA_BYTES_MAX
  return isShort ? proved({ index, proof, checkpoint, extra }) : doubted('receipt-too-long')
}

/**
 * Verifies that the leaf with this hash is in the log at the receipt's index: the checkpoint is signed by a key of
 * the log, and the proof leads from the leaf to its root.
 */
export async function openReceipt(
  hasher: TreeHasher,
  receipt: InclusionReceipt,
  leaf: Hash,
  log: TrustedLog,
  verify: VerifyEd25519,
): Promise<Verdict<Proved>> {
  const opened = await openCheckpoint(formatUtf8(receipt.checkpoint), log, verify)
  if (!opened.ok) return opened
  const { index, proof } = receipt
  const claim = { leaf, index, ...opened.value.checkpoint }
  return isIncluded(hasher, claim, proof) ? proved({ ...opened.value, index }) : doubted('not-included')
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

/** Held at start: a receipt has room for its greatest parts. */
const RECEIPT_ROOM = 4 * Math.ceil(EXTRA_BYTES_MAX / 3) + 64 * PROOF_HASHES_MAX + NOTE_BYTES_MAX
if (RECEIPT_ROOM > RECEIPT_BYTES_MAX) throw new RangeError('a receipt has room for its greatest parts')
