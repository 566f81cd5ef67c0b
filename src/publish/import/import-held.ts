import type { DatabaseSync } from 'node:sqlite'
import { openHeldTables } from '../../log/held/held-tables.ts'
import type { Draft } from '../../protocol/draft.ts'
import { waitsForEarlier } from '../held/decide.ts'

/**
 * Opens the check for drafts that a server would hold, because they take what a held draft of their contest needs. An
 * import cannot hold them. It changes no held draft, so they are read once.
 */
export function openImportHeld(db: DatabaseSync): (draft: Draft) => boolean {
  /** Types of the held drafts of each contest. */
  const types = new Map<Draft['contestId'], Set<Draft['type']>>()
  for (const { draft } of openHeldTables(db).all()) {
    const known = types.get(draft.contestId)
    if (known === undefined) types.set(draft.contestId, new Set([draft.type]))
    else known.add(draft.type)
  }
  return (draft) => {
    const held = draft.contestId === null ? undefined : types.get(draft.contestId)
    return held !== undefined && waitsForEarlier(draft, { any: () => true, anyPlay: () => held.has('play') })
  }
}
