import { MS_MAX, msOf, SECOND_MS } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { formatNote, type Note, type VerifierKey } from '../../tlog/note.ts'
import { openVouching, quorumTime } from '../../tlog/quorum.ts'
import type { WitnessedCheckpoint } from '../store/reader.ts'
import { NODE_SIGNATURES } from '../tree/signer.ts'

/**
 * Note as a witnessed checkpoint, with the time as of which a quorum vouches; null without a quorum. `size` is that of
 * the tree in the note.
 */
export async function vouchedCheckpoint(
  note: Note,
  size: number,
  { keys, quorum }: Readonly<{ keys: readonly VerifierKey[]; quorum: number }>,
): Promise<WitnessedCheckpoint | null> {
  const opened = await openVouching(note, keys, NODE_SIGNATURES)
  const seconds = opened.ok ? quorumTime(opened.value.vouchers, quorum) : undefined
  if (seconds === undefined || seconds * SECOND_MS > MS_MAX) return null
  return { seq: seqOf(size), atMs: msOf(seconds * SECOND_MS), note: formatNote(note) }
}

/** Checkpoint of the larger tree; for equal trees, the one with the later quorum, else the second. */
export function newerWitnessed(
  one: WitnessedCheckpoint | null,
  other: WitnessedCheckpoint | null,
): WitnessedCheckpoint | null {
  if (one === null || other === null) return one ?? other
  return other.seq > one.seq || (other.seq === one.seq && other.atMs >= one.atMs) ? other : one
}
