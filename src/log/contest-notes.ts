import type { DatabaseSync } from 'node:sqlite'
import type { Contest } from '../project/contest.ts'
import { assert } from '../protocol/brand.ts'
import type { ContestId } from '../protocol/seq.ts'
import { formatBody } from './codec.ts'

/** Contests kept decoded in memory between batches; all are written before any is let go. */
const CONTESTS_KNOWN_MAX = 10_000

/** The contests that the writer's transaction changes, as they now are. */
export type ContestNotes = Readonly<{
  /** A contest noted or written lately; undefined when only the store knows. */
  known(id: ContestId): Contest | undefined
  note(changed: Contest): void
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
  const whole = db.prepare(
    `INSERT INTO contests (id, scheduled_seq, status, body) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET status = excluded.status, body = excluded.body`,
  )
  const body = db.prepare('UPDATE contests SET body = ? WHERE id = ?')
  const contests = new Map<ContestId, Contest>()
  /** What is to be written; true where the stored status may be another. */
  const noted = new Map<ContestId, boolean>()

  function flush(): void {
    for (const [id, moved] of noted) {
      const contest = contests.get(id)
      assert(contest !== undefined, `contest ${id}, which is to be written, is known`)
      if (moved) whole.run(id, contest.scheduledSeq, contest.status, formatBody(contest))
      else body.run(formatBody(contest), id)
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
