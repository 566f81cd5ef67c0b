import type { DatabaseSync } from 'node:sqlite'
import type { ContestState } from '../../project/fold/contest.ts'
import { assert } from '../../protocol/brand.ts'
import type { ContestId } from '../../protocol/seq.ts'
import { CONTEST_COLUMNS, valuesOf } from './contest-rows.ts'

/** Contests kept decoded in memory between batches; all are written before any is let go. */
const CONTESTS_KNOWN_MAX = 10_000

/** Columns with an index: an update leaves them out, so that no page of the index is written. */
const INDEXED: readonly string[] = ['id', 'scheduled_seq', 'status']

/** The contests that the writer's transaction changes, as they now are. */
export type ContestNotes = Readonly<{
  /** A contest noted or written lately; undefined when only the store knows. */
  known(id: ContestId): ContestState | undefined
  note(changed: ContestState): void
  /** Writes the rows of all that were noted: to be called before the commit. */
  flush(): void
  /** Forgets everything, after a rollback. */
  forget(): void
}>

/**
 * Many requests of one commit play in the same contests: a contest's row is written once a commit, and its status,
 * which has an index, only when it may be another.
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
  /** What is to be written; true where the stored status may be another. */
  const noted = new Map<ContestId, boolean>()

  function flush(): void {
    for (const [id, moved] of noted) {
      const contest = contests.get(id)
      assert(contest !== undefined, `contest ${id}, which is to be written, is known`)
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
