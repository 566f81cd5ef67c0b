import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../../protocol/brand.ts'
import { msOrNull, number } from '../store/codec.ts'
import type { FinalityCounts } from '../store/reader.ts'

/** Opens the counts of held drafts. The function reads them in the caller's read transaction. */
export function openHeldCounts(db: DatabaseSync): () => FinalityCounts {
  const counts = db.prepare(
    `SELECT held, refused, failed, dropped, vouched, version,
       (SELECT accepted_at FROM held WHERE held.id = (SELECT min(id) FROM held)) AS oldest
     FROM held_counts WHERE id = 1`,
  )
  return () => {
    const row = counts.get()
    assert(row !== undefined, 'the store has its row of counts')
    return {
      held: number(row, 'held'),
      oldestMs: msOrNull(row, 'oldest'),
      refused: number(row, 'refused'),
      failed: number(row, 'failed'),
      dropped: number(row, 'dropped'),
      vouched: number(row, 'vouched'),
      version: number(row, 'version'),
    }
  }
}
