import type { Checkpoint } from '../tlog/checkpoint.ts'
import { isSame } from '../tlog/hash.ts'
import { DOUBTS } from '../tlog/verdict.ts'
import type { Finding } from './reading/finding.ts'
import type { Primitives } from './reading/primitives.ts'
import type { ReplayTree } from './replay/replay-tree.ts'
import { openListed, type Trust } from './trust.ts'
import { formatCount } from '../protocol/amount.ts'
import { formatBase64, formatUtf8 } from '../tlog/note.ts'

/** Saved signed note, with the name of its file. */
export type SavedNote = Readonly<{
  name: string
  note: Uint8Array
  /** Whether the user named the file, which then must belong to this log. False for files found in a folder. */
  named: boolean
}>

/** Saved checkpoint that a key of this log has signed. */
type SavedCheckpoint = SavedNote & Readonly<{ checkpoint: Checkpoint }>

export type OpenedSaved = Readonly<{
  checkpoints: readonly SavedCheckpoint[]
  wrong: readonly Finding[]
  /** Messages for the user about checkpoints of other logs. */
  notes: readonly string[]
}>

/**
 * Saved checkpoints that must agree with the entries of this log. Checkpoints of other logs are separate. A log
 * restored from an older copy is another log, which names the former one.
 */
export async function openSaved(
  saved: readonly SavedNote[],
  trust: Trust,
  primitives: Primitives,
): Promise<OpenedSaved> {
  const checkpoints: SavedCheckpoint[] = []
  const wrong: Finding[] = []
  const notes: string[] = []
  let others = 0
  for (const one of saved) {
    const opened = await openListed(one.note, trust, primitives)
    if (!opened.ok && opened.doubt === 'other-origin' && !one.named) others += 1
    else if (!opened.ok) wrong.push({ place: one.name, what: DOUBTS[opened.doubt] })
    else if (isInLog(opened.value, trust)) checkpoints.push({ ...one, checkpoint: opened.value })
    else notes.push(lossNote(one.name, opened.value, trust))
  }
  if (others > 0)
    notes.push(`${others} saved checkpoints belong to other logs than ${trust.origin}, and were not compared`)
  return { checkpoints, wrong, notes }
}

/** Whether the events of a checkpoint are in this log. Those of a former log are, up to the loss. */
function isInLog({ origin, size }: Checkpoint, trust: Trust): boolean {
  const former = trust.formerLogs.find((log) => log.origin === origin)
  return origin === trust.origin || (former !== undefined && size <= former.size)
}

function lossNote(name: string, { origin, size }: Checkpoint, { formerLogs }: Trust): string {
  const kept = formerLogs.find((log) => log.origin === origin)?.size ?? 0
  return `${name} covers ${formatCount(size, 'event')} of a former log, ${origin}: this log continues its first ${formatCount(kept, 'event')}, and the others were lost`
}

/** Files, by name, that prove a finding to others. */
export type Evidence = Readonly<{ origin: string; name: string; files: Readonly<Record<string, Uint8Array>> }>

/** Relation of a checkpoint to the served one, with the finding and its evidence. */
export type History = Readonly<{
  is: 'consistent' | 'fork' | 'rollback'
  finding: Finding | null
  evidence: Evidence | null
}>

/** Roots of a log at some sizes, each proved from the served entries, and proofs between these sizes. */
export type KnownRoots = Pick<ReplayTree, 'rootAt' | 'proof'>

/** Roots to compare earlier checkpoints with. Without `isRead` only the size and root of the newest one are known. */
export type ComparedRoots = Readonly<{ tree: KnownRoots; isRead: boolean }>

type ComparedCheckpoint = Pick<SavedCheckpoint, 'name' | 'note' | 'checkpoint'>

/** Compares a saved checkpoint with the served one: consistent, fork or rollback. `tree` knows the root at its size. */
export function historyOf(
  saved: ComparedCheckpoint,
  served: Readonly<{ checkpoint: Checkpoint; note: Uint8Array }>,
  tree: KnownRoots,
): History {
  const { size, root } = saved.checkpoint
  const now = served.checkpoint
  if (size > now.size) {
    const what = `ROLLBACK: it covers ${formatCount(size, 'event')}, and the log now has ${now.size}`
    return withEvidence('rollback', saved, served, what, [])
  }
  const recomputed = size === now.size ? now.root : tree.rootAt(size)
  if (recomputed !== undefined && isSame(recomputed, root))
    return { is: 'consistent', finding: null, evidence: null }
  const what = `FORK: the first ${formatCount(size, 'event differs', 'events differ')} from what it signed`
  const proof = size === 0 || size === now.size ? [] : tree.proof(size, now.size)
  return withEvidence('fork', saved, served, what, [
    ...(recomputed === undefined ? [] : [recomputed]),
    ...proof,
  ])
}

function withEvidence(
  is: 'fork' | 'rollback',
  saved: ComparedCheckpoint,
  served: Readonly<{ checkpoint: Checkpoint; note: Uint8Array }>,
  what: string,
  hashes: readonly Uint8Array[],
): History {
  const [earlier, now] = [saved.checkpoint.size, served.checkpoint.size]
  const explanation = EXPLANATIONS[is](earlier, now)
  const lines = [...explanation, ...hashes.map(formatBase64)].map((line) => `${line}\n`).join('')
  const evidence = {
    origin: served.checkpoint.origin,
    name: `${is}-${earlier}-${now}`,
    files: {
      'saved.checkpoint': saved.note,
      'served.checkpoint': served.note,
      'evidence.txt': formatUtf8(lines),
    },
  }
  return { is, finding: { place: saved.name, what }, evidence }
}

const EXPLANATIONS: Readonly<
  Record<'fork' | 'rollback', (earlier: number, now: number) => readonly string[]>
> = {
  fork: (earlier, now) => [
    `The log signed both checkpoints, one for ${formatCount(earlier, 'event')} and one for ${now}, and they contradict each other.`,
    ...(earlier === now
      ? ['They have the same size and different roots: the two notes are the whole proof. The served root:']
      : [
          `The first hash below is the root over the first ${earlier} served entries, which is not the saved root.`,
          `The others are the consistency proof (RFC 6962, 2.1.2) from it to the served root.`,
        ]),
  ],
  rollback: (earlier, now) => [
    `The log signed ${formatCount(earlier, 'event')} and now has ${now}: it was shortened, or an old copy of it is served.`,
  ],
}
