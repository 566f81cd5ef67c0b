import { isSame } from '../../tlog/hash.ts'
import type { MirrorBook } from '../book/mirror-book.ts'
import { ContradictionError } from '../proof/contradiction.ts'
import type { ProvenTree } from '../proof/proven-tree.ts'
import { formatCount } from '../../protocol/amount.ts'

/** Relation of a signed tree to the mirror's: of the same size, larger, or an older one of the same log. */
export type TreePlace = 'level' | 'ahead' | 'behind'

/**
 * Compares a tree that the log has signed with the stored one. Throws a `ContradictionError` when they cannot belong to
 * one log; the two notes prove this to everyone. `served` is the origin's note.
 */
export function placeOfTree(
  book: MirrorBook,
  own: string,
  tree: ProvenTree,
  served: Uint8Array | string = tree.note,
): TreePlace {
  const head = book.head().seq
  if (tree.size > head) return 'ahead'
  if (!isSame(book.treeAt(tree.size).root, tree.root)) {
    throw new ContradictionError(
      `FORK: the origin has signed another history of the first ${formatCount(tree.size, 'event')} than before`,
      { 'own.checkpoint': own, 'served.checkpoint': served },
    )
  }
  return tree.size === head ? 'level' : 'behind'
}

/** Contradiction of an origin that has shown a shorter log for too long. */
export function rollback(own: string, tree: ProvenTree, head: number): ContradictionError {
  return new ContradictionError(
    `ROLLBACK: the origin signed ${formatCount(head, 'event')} and now shows ${tree.size}: it was shortened, or an old copy is served`,
    { 'own.checkpoint': own, 'served.checkpoint': tree.note },
  )
}
