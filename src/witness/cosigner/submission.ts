import { parseWhole } from '../../protocol/seq.ts'
import { type Checkpoint, readCheckpoint } from '../../tlog/checkpoint.ts'
import { type Hash, HASH_BYTES, isHash } from '../../tlog/hash.ts'
import { formatHex, type Note, parseBase64 } from '../../tlog/note.ts'
import { DOUBTS } from '../../tlog/verdict.ts'

/** Most bytes of a request to `add-checkpoint`. */
export const SUBMISSION_BYTES_MAX = 131_072
/** Most lines of a consistency proof in C2SP tlog-witness. */
export const PROOF_LINES_MAX = 63

/** Request to `add-checkpoint` (C2SP tlog-witness), unverified. */
export type Submission = Readonly<{
  /** Size of the witness's newest tree in the caller's view. */
  oldSize: number
  proof: readonly Hash[]
  checkpoint: Checkpoint
  /** Each signature line once. */
  note: Note
}>

/** A well-formed submission, or the fault. The reason repeats nothing of the request. */
type ParsedSubmission =
  | Readonly<{ ok: true; submission: Submission }>
  | Readonly<{ ok: false; reason: string }>

const OLD_LINE = /^old ([0-9]+)$/

/** Parses the body of a request to `add-checkpoint`. */
export function parseSubmission(body: Uint8Array): ParsedSubmission {
  if (body.length > SUBMISSION_BYTES_MAX)
    return malformed(`the request has more than ${SUBMISSION_BYTES_MAX} bytes`)
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const blank = bytes.indexOf('\n\n')
  if (blank < 0) return malformed('no empty line is before the checkpoint')
  // Each byte becomes a character, so only ASCII can match below.
  const [first = '', ...lines] = bytes.toString('latin1', 0, blank).split('\n')
  const [, decimal] = OLD_LINE.exec(first) ?? []
  if (decimal === undefined) return malformed('the first line is not `old` with a size')
  const oldSize = parseWhole(decimal)
  if (oldSize === undefined)
    return malformed('the old size is no decimal from 0 to 2^53−1 without leading zeros')
  if (lines.length > PROOF_LINES_MAX) return malformed(`a proof has at most ${PROOF_LINES_MAX} lines`)
  const proof: Hash[] = []
  for (const line of lines) {
    const hash = parseBase64(line)
    if (hash === undefined || !isHash(hash)) {
      return malformed(`line ${proof.length + 1} of the proof is not the base64 of ${HASH_BYTES} bytes`)
    }
    proof.push(hash)
  }
  const read = readCheckpoint(bytes.subarray(blank + 2))
  if (!read.ok) return malformed(DOUBTS[read.doubt])
  const { checkpoint, note } = read.value
  return { ok: true, submission: { oldSize, proof, checkpoint, note: withoutRepeats(note) } }
}

/** Note with each signature line once. A repeated line proves nothing more, and costs a verification. */
function withoutRepeats({ text, signatures }: Note): Note {
  const lines = new Map(
    signatures.map((line) => [`${line.name} ${line.keyId} ${formatHex(line.signature)}`, line]),
  )
  return { text, signatures: [...lines.values()] }
}

function malformed(reason: string): ParsedSubmission {
  return { ok: false, reason }
}
