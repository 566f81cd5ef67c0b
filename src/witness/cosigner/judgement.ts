import { sha256 } from '../../log/tree/signer.ts'
import type { ProvedLog } from '../../command/plug/option.ts'
import { isConsistent } from '../../tlog/consistency.ts'
import { isSame, treeHasher } from '../../tlog/hash.ts'
import type { CosignedTree } from './cosigned-logs.ts'
import { conflictAnswer, type CosignerAnswer, refusedAnswer } from './cosigner-answer.ts'
import type { OwnCosignatures } from './cosigner-keys.ts'
import type { Submission } from './submission.ts'

/** A submission that a key of the log has signed, with the verified lines and the cosignatures of our own keys. */
export type SignedSubmission = Submission & Readonly<{ logLines: string; own: OwnCosignatures | undefined }>

/**
 * Further condition of a cosignature, asked after all checks of tlog-witness have passed. Null allows it. `unproved`: a
 * 503. `inconsistent`: a 422.
 */
export type CosignerGuard = ProvedLog['whyNot']

const hasher = treeHasher(sha256)

/**
 * Refusal of a submission that does not continue the newest cosigned tree; null when it does. The checks have the order of
 * C2SP tlog-witness: old size, root of an empty tree, proof.
 */
export function whyNotConsistent(
  { oldSize, proof, checkpoint }: Submission,
  newest: CosignedTree | undefined,
): CosignerAnswer | null {
  const size = newest?.size ?? 0
  if (oldSize !== size) return conflictAnswer(size)
  if (checkpoint.size === 0 && !isSame(checkpoint.root, hasher.empty))
    return refusedAnswer('inconsistent', 'the root of an empty tree is the hash of no bytes')
  if (newest === undefined || size === 0) {
    return proof.length === 0 ? null : refusedAnswer('inconsistent', 'a tree of size 0 needs no proof')
  }
  if (isConsistent(hasher, newest, checkpoint, proof)) return null
  return refusedAnswer(
    'inconsistent',
    checkpoint.size === size
      ? 'the root differs from that of the cosigned checkpoint of this size, or the proof is not empty'
      : 'the proof does not show that the tree grew from the cosigned one',
  )
}

/** Whether a signed checkpoint contradicts the cosigned one: equal sizes and different roots. */
export function contradicts(
  { checkpoint }: Pick<Submission, 'checkpoint'>,
  newest: CosignedTree | undefined,
): boolean {
  return newest?.size === checkpoint.size && !isSame(newest.root, checkpoint.root)
}

/** Whether a cosignature of our own keys proves that the state has forgotten a checkpoint. */
export function isForgotten(
  { own, checkpoint }: SignedSubmission,
  newest: CosignedTree | undefined,
): boolean {
  if (own === undefined) return false
  if (newest === undefined || checkpoint.size > newest.size || own.time > newest.time) return true
  return contradicts({ checkpoint }, newest)
}
