import { setTimeout as sleep } from 'node:timers/promises'
import type { GuardRefusal, ProvedLog } from '../../command/plug/option.ts'
import type { CommandContext } from '../../command/terminal/command-context.ts'
import type { HeadCell } from '../../log/head-cell.ts'
import { openBeside, readIdentity, storePath } from '../../log/store/store.ts'
import { sha256 } from '../../log/tree/signer.ts'
import { signingVkeys } from '../../log/tree/signing-keys.ts'
import { openStoredTree } from '../../log/tree/stored-tree.ts'
import { isSame } from '../../tlog/hash.ts'
import { formatNote, parseVkey } from '../../tlog/note.ts'

/** Longest time in milliseconds that a checkpoint waits until the mirror has its tree. */
const PROOF_WAIT_MS_MAX = 5_000
/** Milliseconds between two checks of the head meanwhile. */
const LOOK_MS = 50

type ProvedLogParts = Readonly<{
  data: string
  head: Pick<HeadCell, 'read'>
  /** Whether the origin has contradicted its own signature. */
  isStopped(): boolean
  /** Called with a checkpoint that the log has signed and that contradicts the mirror's tree. */
  onFork(note: string): void
  /** `PROOF_WAIT_MS_MAX` if absent. */
  waitMsMax?: number | undefined
}>

/**
 * Opens the log of a mirror, for the mirror's witness. A checkpoint may be cosigned only when the mirror itself has
 * built and proved the tree. After a contradiction none may be cosigned.
 */
export function openProvedLog(
  { data, head, isStopped, onFork, waitMsMax = PROOF_WAIT_MS_MAX }: ProvedLogParts,
  { monotonicMs }: Pick<CommandContext, 'monotonicMs'>,
): ProvedLog & Disposable {
  const db = openBeside(storePath(data))
  const tree = openStoredTree(db)
  const { origin } = readIdentity(db)

  async function isReached(size: number): Promise<boolean> {
    const endMs = monotonicMs() + waitMsMax
    while (head.read() < size) {
      if (isStopped() || monotonicMs() >= endMs) return false
      await sleep(LOOK_MS, undefined, { ref: false })
    }
    return true
  }

  return {
    origin,
    // Read for each checkpoint, because the mirror adopts proved changes of the keys.
    get keys() {
      return signingVkeys(db).flatMap((vkey) => parseVkey(sha256, vkey) ?? [])
    },
    async whyNot({ checkpoint, note }) {
      const reached = await isReached(checkpoint.size)
      if (isStopped()) return STOPPED
      if (!reached) return BEHIND
      if (isSame(tree.at(checkpoint.size).root, checkpoint.root)) return null
      onFork(formatNote(note))
      return OTHER_TREE
    },
    [Symbol.dispose]: () => db.close(),
  }
}

const STOPPED: GuardRefusal = {
  outcome: 'unproved',
  reason: 'this mirror has stopped: the log has signed two histories',
}
const BEHIND: GuardRefusal = { outcome: 'unproved', reason: 'this mirror does not have the tree yet' }
const OTHER_TREE: GuardRefusal = {
  outcome: 'inconsistent',
  reason: 'this mirror has another tree of this size',
}
