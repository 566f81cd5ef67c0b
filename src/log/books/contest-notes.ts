import type { DatabaseSync } from 'node:sqlite'
import type { ContestState } from '../../project/fold/contest.ts'
import { assert } from '../../protocol/brand.ts'
import type { ContestId } from '../../protocol/seq.ts'
import { CONTEST_COLUMNS, valuesOf } from './contest-rows.ts'

/** Contests in the cache. When it is full, all are written and then all are removed. */
const CONTESTS_KNOWN_MAX = 10_000

/** Columns with an index. Updates leave them out, so that no page of the index is written. */
const INDEXED: readonly string[] = ['id', 'scheduled_seq', 'status']

/** A write-back cache of contests for the writer. */
export type ContestNotes = Readonly<{
  /** A contest in the cache; undefined when only the store may have it. */
  known(id: ContestId): ContestState | undefined
  note(changed: ContestState): void
  /** Writes the rows of all noted contests. Must be called before the commit. */
  flush(): void
  /** Forgets everything, after a rollback. */
  forget(): void
}>

/**
 * Opens the cache. The requests of one commit often share contests, so a contest's row is written once a commit. Its
 * status, which has an index, is written only when it may have changed.
 */
export function openContestNotes(db: DatabaseSync): ContestNotes {
  const insert = `INSERT INTO contests (${CONTEST_COLUMNS.join(', ')})
    VALUES (${CONTEST_COLUMNS.map(() => '?').join(', ')}) ON CONFLICT (id) DO UPDATE SET `
  const setting = (columns: readonly string[]): string =>
    columns.map((column) => `${column} = excluded.${column}`).join(', ')
  const unindexed = CONTEST_COLUMNS.filter((column) => !INDEXED.includes(column))
  const moving = db.prepare(insert + setting([...unindexed, 'status']))
  const staying = db.prepare(insert + setting(unindexed))
  const contests = new Map<ContestId, ContestState>()
  /** Contests to be written; true when the stored status may differ. */
  const noted = new Map<ContestId, boolean>()

  function flush(): void {
    for (const [id, moved] of noted) {
      const contest = contests.get(id)
      assert(contest !== undefined, `contest ${id} is in the cache until it is written`)
      const statement = moved ? moving : staying
      statement.run(...valuesOf(contest))
    }
    noted.clear()
  }

  return {
    known: (id) => contests.get(id),
    note(changed) {
      if (contests.size >= CONTESTS_KNOWN_MAX) {
        flush()
        contests.clear()
      }
      const moved = contests.get(changed.id)?.status !== changed.status
      noted.set(changed.id, moved || noted.get(changed.id) === true)
      contests.set(changed.id, changed)
    },
    flush,
    forget() {
      noted.clear()
      contests.clear()
    },
  }
}
