import { setTimeout as sleep } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import type { HeadCell } from '../../log/store/head-cell.ts'
import { openBeside, readIdentity, storePath } from '../../log/store/store.ts'
import { sha256 } from '../../log/tree/signer.ts'
import { signingVkeys } from '../../log/tree/signing-keys.ts'
import { openStoredTree } from '../../log/tree/stored-tree.ts'
import { isSame } from '../../tlog/hash.ts'
import { formatNote } from '../../tlog/note.ts'
import { parseVkey } from '../../tlog/vkey.ts'
import type { CosignerKey } from '../../log/tree/cosigner-key.ts'
import type { CosignerGuard, GuardRefusal } from '../../witness/cosigner/judgement.ts'
import { openCosigning } from '../../witness/command/open-cosigning.ts'
import type { LogLines } from '../../command/log-lines/log-lines.ts'
import type { CommandContext } from '../../command/terminal/command-context.ts'

/** Listener and keys under which a mirror cosigns. */
export type MirrorWitnessSettings = Readonly<{
  /** Directory of the state. */
  stateDirectory: string
  keys: readonly CosignerKey[]
  host: string
  port: number
  acceptCopy: boolean
  /** Longest wait for the tree of a submission; `PROOF_WAIT_MS_MAX` if absent. */
  waitMsMax?: number
}>

/** Longest time that a submission waits until the mirror has its tree, in milliseconds. */
const PROOF_WAIT_MS_MAX = 5_000
/** Milliseconds between two looks at the head meanwhile. */
const LOOK_MS = 50
/** Most new sizes in a minute. A log asks every 10 s. */
const GROWTH_PER_MINUTE = 60

type MirrorWitnessParts = Readonly<{
  data: string
  head: Pick<HeadCell, 'read'>
  /** Whether the origin has contradicted what it signed. */
  isStopped(): boolean
  registry: Registry
}>

/** The witness of a mirror. */
type MirrorWitness = Disposable &
  Readonly<{
    /**
     * Starts its public listener. `onFork` is called with a checkpoint that the log has signed, and that contradicts the
     * tree of the mirror.
     */
    listen(onFork: (note: string) => void): Promise<AsyncDisposable & Readonly<{ port: number }>>
  }>

/**
 * Opens the witness of a mirror. It cosigns a checkpoint of the mirrored log only when the mirror itself has built and
 * proved the tree, and nothing after a contradiction. Disposal closes the state.
 */
export function openMirrorWitness(
  settings: MirrorWitnessSettings,
  { data, head, isStopped, registry }: MirrorWitnessParts,
  context: Pick<CommandContext, 'now' | 'monotonicMs'>,
  lines: LogLines,
): MirrorWitness {
  using stack = new DisposableStack()
  const db = openBeside(storePath(data))
  stack.defer(() => db.close())
  const tree = openStoredTree(db)
  const { origin } = readIdentity(db)
  const log = {
    origin,
    // Read for each submission: the mirror takes over proved changes of the keys.
    get keys() {
      return signingVkeys(db).flatMap((vkey) => parseVkey(sha256, vkey) ?? [])
    },
  }

  let tellFork: (note: string) => void = () => undefined

  async function isReached(size: number): Promise<boolean> {
    const endMs = context.monotonicMs() + (settings.waitMsMax ?? PROOF_WAIT_MS_MAX)
    while (head.read() < size) {
      if (isStopped() || context.monotonicMs() >= endMs) return false
      await sleep(LOOK_MS, undefined, { ref: false })
    }
    return true
  }

  const guard: CosignerGuard = async ({ checkpoint, note }) => {
    const reached = await isReached(checkpoint.size)
    if (isStopped()) return STOPPED
    if (!reached) return BEHIND
    if (isSame(tree.at(checkpoint.size).root, checkpoint.root)) return null
    tellFork(formatNote(note))
    return OTHER_TREE
  }

  const cosigning = openCosigning(
    {
      ...settings,
      data: settings.stateDirectory,
      logs: [log],
      guard,
      portOption: '--witness-port',
      growthPerMinute: GROWTH_PER_MINUTE,
    },
    registry,
    context,
    lines,
  )
  stack.use(cosigning)
  const owned = stack.move()
  return {
    async listen(onFork) {
      tellFork = onFork
      return await cosigning.listen()
    },
    [Symbol.dispose]: () => owned.dispose(),
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
