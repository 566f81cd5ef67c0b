import { treeHasher } from '../tlog/hash.ts'
import type { Ms } from '../protocol/moment.ts'
import type { CollectedAnswers, AskAllSettings } from './ask-all.ts'
import { entriesOf } from './reading/verified-entries.ts'
import { type Finding, findingOf } from './reading/finding.ts'
import type { PublishedEntry } from './reading/month-entries.ts'
import type { Entry } from '../protocol/event.ts'
import { openRecomputedAnswers, type RecomputedAnswers } from './replay/recomputed-answers.ts'
import { openReplayTree, type ReplayTree } from './replay/replay-tree.ts'

/** Result of one pass through the log. */
export type ReadLog = Readonly<{
  tree: ReplayTree
  recomputed: RecomputedAnswers
  /** Fault that ended reading before the size of the checkpoint, or null. */
  broken: Finding | null
  /** First entry that cannot be posted, or null. No later entry is in any figure. */
  misfit: Finding | null
  /** Moment of the first event after the first `witnessedSize` events; null when there is none. */
  unwitnessed: Ms | null
}>

/** Reads the log up to the checkpoint, once. Each entry goes to the tree, the books, the samples and the transactions. */
export async function readLog(
  settings: AskAllSettings & Readonly<{ signal: AbortSignal }>,
  { served, months, figures, samples }: CollectedAnswers,
  { savedSizes, witnessedSize }: Readonly<{ savedSizes: readonly number[]; witnessedSize: number }>,
  transactions: Readonly<{ add(entry: Entry): void }> | null,
): Promise<ReadLog> {
  const { source, primitives, signal, onProgress } = settings
  const { size } = served.checkpoint
  const monthSizes = (months ?? []).flatMap(({ manifest }) => manifest?.size ?? [])
  const tree = openReplayTree(treeHasher(primitives.sha256), [
    ...savedSizes,
    ...monthSizes,
    samples.tree?.size ?? size,
    size,
  ])
  const recomputed = openRecomputedAnswers(figures.answers)
  let misfit: Finding | null = null
  let unwitnessed: Ms | null = null

  function take({ entry, leaf }: PublishedEntry): void {
    tree.add(leaf)
    samples.pass(entry.event, leaf)
    if (entry.event.seq === witnessedSize + 1) unwitnessed = entry.event.atMs
    if (misfit !== null) return
    try {
      recomputed.add(entry)
      transactions?.add(entry)
    } catch (error) {
      misfit = findingOf(error)
    }
  }

  try {
    for await (const entries of entriesOf(source, months ?? [], size, primitives)) {
      signal.throwIfAborted()
      for (const entry of entries) take(entry)
      onProgress('reading', tree.size(), size)
    }
    return { tree, recomputed, broken: null, misfit, unwitnessed }
  } catch (error) {
    signal.throwIfAborted()
    return { tree, recomputed, broken: findingOf(error), misfit, unwitnessed }
  }
}
