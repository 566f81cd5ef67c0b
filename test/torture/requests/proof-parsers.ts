import { NODE_PRIMITIVES } from '../../../src/command/terminal/node-primitives.ts'
import { formatCheckpoint, parseCheckpoint } from '../../../src/tlog/checkpoint.ts'
import { cosignText, formatCosignature, parseCosignature } from '../../../src/tlog/cosignature.ts'
import { hashIn, treeHasher } from '../../../src/tlog/hash.ts'
import { isConsistent, isIncluded } from '../../../src/tlog/proof.ts'
import { formatNote, formatVkey, parseNote, parseVkey } from '../../../src/tlog/note.ts'
import { formatReceipt, parseReceipt } from '../../../src/tlog/receipt.ts'
import { formatTile, parseTile } from '../../../src/tlog/tile.ts'
import { parseSubmission } from '../../../src/witness/cosigner/submission.ts'
import { cosigned, witnessKey } from '../../story/witness-keys.ts'
import { sampleLog } from '../../witness/sample-log.ts'
import {
  ACCEPTED,
  type AttackedParser,
  ofValue,
  ofVerdict,
  type Outcome,
  REFUSED,
} from './attacked-parser.ts'

const AT_MS = Date.UTC(2026, 10, 23)
const log = sampleLog('daybook.example/log')
const [alpha, beta] = [witnessKey('alpha'), witnessKey('beta', 'ml-dsa-44')]
const note = log.note(9)
const witnessed = cosigned(note, AT_MS, alpha, beta)
const { sha256 } = NODE_PRIMITIVES
const hasher = treeHasher(sha256)
const receipt = formatReceipt({
  index: 3,
  proof: [log.root(1), log.root(2)],
  checkpoint: witnessed,
  extra: Buffer.from('extra'),
})
const textOfNote = note.slice(0, note.indexOf('\n\n') + 1)
const cosignature = cosignText(alpha.key, alpha.sign, AT_MS / 1000, textOfNote)

const utf8 = (read: (text: string) => Outcome) => (bytes: Buffer) => {
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) ? read(text) : REFUSED
}

const CONSISTENCY = Buffer.concat(
  log
    .proof(3, 9)
    .split('\n')
    .map((line) => Buffer.from(line, 'base64')),
)

/** Hashes of a proof, from bytes of any length. */
const hashesOf = (bytes: Buffer): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / 32) }, (_, index) => hashIn(bytes, index))

/** Parsers of signed texts and proofs. */
export const PROOF_PARSERS: readonly AttackedParser[] = [
  { name: 'a note', valid: [note, witnessed], read: (bytes) => ofVerdict(parseNote(bytes), formatNote) },
  {
    name: 'a checkpoint',
    valid: [textOfNote],
    read: utf8((text) => ofValue(parseCheckpoint(text), formatCheckpoint)),
  },
  { name: 'a receipt', valid: [receipt], read: (bytes) => ofVerdict(parseReceipt(bytes), formatReceipt) },
  {
    name: 'a verifier key',
    valid: [formatVkey(log.key), formatVkey(alpha.key), formatVkey(beta.key)],
    read: utf8((text) => ofValue(parseVkey(sha256, text), formatVkey)),
  },
  {
    name: 'a cosignature',
    valid: [cosignature.signature],
    read: (bytes) => ofValue(parseCosignature('ed25519-cosignature', bytes), formatCosignature),
  },
  {
    name: 'a tile of hashes',
    valid: [formatTile([log.root(1), log.root(2), log.root(3)])],
    read: (bytes) => ofValue(parseTile(bytes, 3), formatTile),
  },
  {
    name: 'a consistency proof',
    valid: [CONSISTENCY],
    // Only one proof is right.
    read: (bytes) =>
      isConsistent(hasher, { size: 3, root: log.root(3) }, { size: 9, root: log.root(9) }, hashesOf(bytes))
        ? { is: 'accepted', again: CONSISTENCY }
        : REFUSED,
  },
  {
    name: 'an inclusion proof',
    valid: [Buffer.alloc(0)],
    read(bytes) {
      const [size = 1, index = 0] = bytes
      const claim = { leaf: log.root(1), index, size, root: log.root(1) }
      return isIncluded(hasher, claim, hashesOf(bytes.subarray(2))) ? ACCEPTED : REFUSED
    },
  },
  {
    name: 'a request to a witness',
    valid: [log.submission(3, 9), log.submission(0, 5)],
    read: (bytes) => (parseSubmission(bytes).ok ? ACCEPTED : REFUSED),
  },
]
