import { NODE_SIGNATURES } from '../../log/tree/signer.ts'
import type { ListedWitness } from '../../log/store/reader.ts'
import { type Ms, msOf, SECOND_MS } from '../../protocol/moment.ts'
import { type NoteSignature, parseNote, type VerifierKey } from '../../tlog/note.ts'
import { AHEAD_SECONDS_MAX, openVouching } from '../../tlog/quorum.ts'
import type { WitnessRefusal } from './feed-settings.ts'
import type { CheckpointAnswer, CheckpointRequest } from './post-checkpoint.ts'

/** A tree that witnesses are asked to cosign: its note, the signed text of the note, and proofs from earlier sizes. */
export type FedTree = Readonly<{
  size: number
  text: string
  note: string
  /** Proof that the tree grew from that of a smaller or equal size; undefined for a size of 0 or above its own. */
  growth(from: number): readonly Uint8Array[] | undefined
}>

/** A witness at one address, under one or more keys of one name. */
export type Peer = {
  readonly url: string
  readonly name: string
  readonly keys: readonly VerifierKey[]
  /** Size that the witness has cosigned last, as far as this node knows. */
  size: number
  state: ListedWitness['state']
  /** Size and time of its newest cosignature that this node has; 0 and null before the first. */
  cosigned: Readonly<{ size: number; atMs: Ms | null }>
  /** Text of the checkpoint that it has cosigned last. */
  text: string
  /** When it was asked last, and when it may be asked again, by the monotonic clock. */
  askedMs: number
  retryMs: number
  failures: number
}

/** Outcome of asking a witness about a tree. */
export type PeerOutcome =
  | Readonly<{ is: 'cosigned'; signatures: readonly NoteSignature[]; atMs: Ms; wentBack: boolean }>
  | Readonly<{ is: 'refused'; reason: WitnessRefusal; retryAfterMs: number }>

/** Asks a witness to cosign a tree. A conflict names the size from which it is asked once more. */
export async function askPeer(
  peer: Peer,
  tree: FedTree,
  now: () => Ms,
  post: (url: string, question: CheckpointRequest) => Promise<CheckpointAnswer>,
): Promise<PeerOutcome> {
  let oldSize = Math.min(peer.size, tree.size)
  let wentBack = false
  for (let attempt = 1; ; attempt += 1) {
    const proof = tree.growth(oldSize) ?? []
    const answer = await post(peer.url, { oldSize, proof, note: tree.note })
    if (answer.is === 'refused') return answer
    if (answer.is === 'lines') return await judgedLines(peer, tree, answer.lines, { now, wentBack })
    peer.size = answer.size
    if (answer.size > tree.size) return { is: 'refused', reason: 'ahead', retryAfterMs: 0 }
    // Two conflicts in a row: others feed the same witness at this moment, or it contradicts itself.
    if (attempt === 2) return { is: 'refused', reason: 'failed', retryAfterMs: 0 }
    wentBack = answer.size < peer.cosigned.size
    oldSize = answer.size
  }
}

/** Verifies the lines of an answer. Lines of unknown keys are ignored. */
async function judgedLines(
  { keys }: Peer,
  { text }: FedTree,
  lines: string,
  { now, wentBack }: Readonly<{ now: () => Ms; wentBack: boolean }>,
): Promise<PeerOutcome> {
  const malformed = { is: 'refused', reason: 'malformed', retryAfterMs: 0 } as const
  const note = parseNote(Buffer.from(`${text}\n${lines}`))
  if (!note.ok || note.value.text !== text) return malformed
  const vouching = await openVouching(note.value, keys, NODE_SIGNATURES)
  const [voucher] = vouching.ok ? vouching.value.vouchers : []
  if (voucher === undefined) return malformed
  const atMs = voucher.timeSeconds * 1_000
  if (atMs > now() + AHEAD_SECONDS_MAX * SECOND_MS) return { is: 'refused', reason: 'clock', retryAfterMs: 0 }
  const isKnown = (line: NoteSignature): boolean =>
    keys.some(({ name, keyId }) => name === line.name && keyId === line.keyId)
  return { is: 'cosigned', signatures: note.value.signatures.filter(isKnown), atMs: msOf(atMs), wentBack }
}
