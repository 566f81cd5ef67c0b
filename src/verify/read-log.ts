import { treeHasher } from '../tlog/hash.ts'
import type { Asked, AskAllSettings } from './ask-all.ts'
import { entriesOf } from './reading/verified-entries.ts'
import type { Finding } from './reading/finding.ts'
import { findingOf } from './reading/finding.ts'
import type { PublishedEntry } from './reading/month-entries.ts'
import type { Passage } from './trail/passage.ts'
import { openPassage } from './trail/passage.ts'
import type { TreeTrail } from './trail/tree-trail.ts'
import { openTreeTrail } from './trail/tree-trail.ts'

/** What came of one passage through the log. */
export type ReadLog = Readonly<{
  tree: TreeTrail
  passage: Passage
  /** Why reading ended before the checkpoint's size; null when it did not. */
  broken: Finding | null
  /** The first entry that cannot be posted; what follows it is in no figure. */
  misfit: Finding | null
}>

/** Reads the log up to the checkpoint, once: each entry goes into the tree, the books and past what was answered. */
export async function readLog(
  settings: AskAllSettings & Readonly<{ signal: AbortSignal }>,
  { served, months, figures, samples }: Asked,
  savedSizes: readonly number[],
): Promise<ReadLog> {
  const { source, primitives, signal, onProgress } = settings
  const { size } = served.checkpoint
  const monthSizes = (months ?? []).flatMap(({ manifest }) => manifest?.size ?? [])
  const tree = openTreeTrail(treeHasher(primitives.sha256), [
    ...savedSizes,
    ...monthSizes,
    samples.tree?.size ?? size,
    size,
  ])
  const passage = openPassage(figures.answers)
  let misfit: Finding | null = null

  function take({ entry, leaf }: PublishedEntry): void {
    tree.add(leaf)
    samples.pass(entry.event, leaf)
    if (misfit !== null) return
    try {
      passage.add(entry)
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
    return { tree, passage, broken: null, misfit }
  } catch (error) {
    signal.throwIfAborted()
    return { tree, passage, broken: findingOf(error), misfit }
  }
}
