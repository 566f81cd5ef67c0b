import { openCheckpoint, type OpenedCheckpoint, type TrustedLog } from '../../src/tlog/checkpoint.ts'
import type { Hash, TreeHasher } from '../../src/tlog/hash.ts'
import { isIncluded } from '../../src/tlog/proof.ts'
import type { InclusionReceipt } from '../../src/tlog/receipt.ts'
import { doubted, proved, type Verdict } from '../../src/tlog/verdict.ts'
import { formatUtf8, type Verify } from '../../src/tlog/note.ts'

/** Verifies a receipt as a reader does: its checkpoint is signed by the log and its proof leads from the leaf to the root. */
export async function openReceipt(
  hasher: TreeHasher,
  { index, proof, checkpoint }: InclusionReceipt,
  leaf: Hash,
  log: TrustedLog,
  verify: Verify,
): Promise<Verdict<OpenedCheckpoint & Readonly<{ index: number }>>> {
  const opened = await openCheckpoint(formatUtf8(checkpoint), log, verify)
  if (!opened.ok) return opened
  const claim = { leaf, index, ...opened.value.checkpoint }
  return isIncluded(hasher, claim, proof) ? proved({ ...opened.value, index }) : doubted('not-included')
}
