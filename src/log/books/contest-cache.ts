import type { DatabaseSync } from 'node:sqlite'
import { type ContestState, outcomeOf } from '../../project/fold/contest.ts'
import { assert } from '../../protocol/brand.ts'
import type { ContestId } from '../../protocol/seq.ts'
import { CONTEST_COLUMNS, valuesOf } from './contest-rows.ts'

/** Most contests in the cache. When it is full, all are written and then all are removed. */
const CACHED_CONTESTS_MAX = 10_000

/** Indexed columns that change. Most updates leave them out, to avoid writing pages of their indexes. */
const MOVING: readonly string[] = ['status', 'outcome', 'closed_at']
const INDEXED: readonly string[] = ['id', 'scheduled_seq', ...MOVING]

/** A write-back cache of contests for the writer. */
export type ContestCache = Readonly<{
  /** Contest in the cache; undefined when only the store may have it. */
  get(id: ContestId): ContestState | undefined
  put(changed: ContestState): void
  /** Writes all changed contests. Must be called before the commit. */
  flush(): void
  /** Empties the cache, after a rollback. */
  forget(): void
}>

/**
 * Opens the cache. Requests of one commit often share contests, so a contest's row is written once a commit. Its status,
 * outcome and close have indexes, and are written only when they may have changed.
 */
export function openContestCache(db: DatabaseSync): ContestCache {
  const insert = `INSERT INTO contests (${CONTEST_COLUMNS.join(', ')})
    VALUES (${CONTEST_COLUMNS.map(() => '?').join(', ')}) ON CONFLICT (id) DO UPDATE SET `
  const setting = (columns: readonly string[]): string =>
    columns.map((column) => `${column} = excluded.${column}`).join(', ')
  const unindexed = CONTEST_COLUMNS.filter((column) => !INDEXED.includes(column))
  const moving = db.prepare(insert + setting([...unindexed, ...MOVING]))
  const staying = db.prepare(insert + setting(unindexed))
  const contests = new Map<ContestId, ContestState>()
  /** Contests to be written; true when the stored status, outcome or close may differ. */
  const dirty = new Map<ContestId, boolean>()

  function flush(): void {
    for (const [id, moved] of dirty) {
      const contest = contests.get(id)
      assert(contest !== undefined, `contest ${id} is in the cache until it is written`)
      const statement = moved ? moving : staying
      statement.run(...valuesOf(contest))
    }
    dirty.clear()
  }

  return {
    get: (id) => contests.get(id),
    put(changed) {
      if (contests.size >= CACHED_CONTESTS_MAX) {
        flush()
        contests.clear()
      }
      const before = contests.get(changed.id)
      const moved =
        before === undefined ||
        before.status !== changed.status ||
        before.closedAt !== changed.closedAt ||
        outcomeOf(before) !== outcomeOf(changed)
      dirty.set(changed.id, moved || dirty.get(changed.id) === true)
      contests.set(changed.id, changed)
    },
    flush,
    forget() {
      dirty.clear()
      contests.clear()
    },
  }
}
