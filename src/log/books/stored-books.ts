import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Books, Correction, HeadBooks } from '../../project/fold/books.ts'
import type { ContestState } from '../../project/fold/contest.ts'
import { type ContestId, seqOf } from '../../protocol/seq.ts'
import { totalsOfTally } from '../../project/fold/tally.ts'
import { weekOf, weekStrided } from '../../project/fold/week-sums.ts'
import { number, parseLoyalty, text } from '../store/codec.ts'
import { contestOfRow, WIRE_COLUMNS, wireOfValues } from './contest-rows.ts'
import { openContestSearch } from './contest-search.ts'
import type { PrefixReader } from './prefix-reader.ts'
import { openUnpaid } from './unpaid-rows.ts'

/** Opens the books of a store. The function reads them in the caller's read transaction. */
export function openBooks(db: DatabaseSync, prefix: PrefixReader): () => Books {
  const listings = openListings(db, prefix)
  const find = openContestSearch(db, listings.contest)
  return () => {
    const head = prefix.head()
    return {
      head,
      firstAtMs: prefix.firstAtMs(),
      totals: () => ({ seq: head.seq, head: () => head, totals: totalsOfTally(prefix.newest()) }),
      totalsBefore: prefix.totalsBefore,
      totalsBeforeEach: prefix.totalsBeforeEach,
      weekStridedActivity: (q) =>
        head.atMs === null || q >= weekOf(head.atMs) ? undefined : weekStrided(prefix.weekRepository, q),
      ...listings,
      findContests: (search) => find(search, head),
    }
  }
}

function openListings(db: DatabaseSync, prefix: PrefixReader): Omit<HeadBooks, 'findContests'> {
  const contest = db.prepare('SELECT * FROM contests WHERE id = ?')
  const scheduled = db.prepare('SELECT scheduled_seq FROM contests WHERE id = ?')
  const contests = db.prepare(
    `SELECT ${WIRE_COLUMNS}, scheduled_seq FROM contests WHERE scheduled_seq < ? ORDER BY scheduled_seq DESC LIMIT ?`,
  )
  const contestsOf = db.prepare(
    `SELECT ${WIRE_COLUMNS}, scheduled_seq FROM contests
     WHERE status = ? AND scheduled_seq < ? ORDER BY scheduled_seq DESC LIMIT ?`,
  )
  for (const list of [contests, contestsOf]) list.setReturnArrays(true)
  const payouts = db.prepare(
    `SELECT e.line AS line FROM takes t JOIN events e ON e.seq = t.seq
     WHERE t.contest = ? AND t.seq > ? AND t.lot = 0 ORDER BY t.seq LIMIT ?`,
  )
  const loyalty = db.prepare('SELECT body FROM loyalty ORDER BY month')
  const correction = db.prepare('SELECT correction, restatement FROM corrections WHERE seq = ?')
  const contestOf = (id: ContestId): ContestState | undefined => {
    const row = contest.get(id)
    return row === undefined ? undefined : contestOfRow(row)
  }
  return {
    contest: contestOf,
    contests({ statuses, after, limit }) {
      const row = after === null ? undefined : scheduled.get(after)
      const before = row === undefined ? Number.MAX_SAFE_INTEGER : number(row, 'scheduled_seq')
      if (after !== null && row === undefined) return []
      // One query for each status, so that no row of another status is read.
      const lists =
        statuses === null
          ? [valuesOf(contests.all(before, limit))]
          : [...new Set(statuses)].map((status) => valuesOf(contestsOf.all(status, before, limit)))
      const [only = []] = lists
      const rows = lists.length <= 1 ? only : lists.flat().toSorted(byScheduled).slice(0, limit)
      return rows.map(wireOfValues)
    },
    payoutLines: (contestId, after, limit) =>
      payouts.all(contestId, after, limit).map((row) => text(row, 'line')),
    ...openUnpaid(db, prefix, contestOf),
    loyalty: () => loyalty.all().map((row) => parseLoyalty(text(row, 'body'))),
    correction(seq): Correction | undefined {
      const row = correction.get(seq)
      if (row === undefined) return undefined
      const restatement = row['restatement'] === null ? null : seqOf(number(row, 'restatement'))
      return { by: seqOf(number(row, 'correction')), restatement }
    },
  }
}

/** The rows of a statement that returns arrays. The types of `all` do not cover it. */
function valuesOf(rows: readonly unknown[]): readonly (readonly SQLOutputValue[])[] {
  return rows.filter(Array.isArray)
}

/** Newest first, by the `scheduled_seq` at the end of each row. */
function byScheduled(a: readonly SQLOutputValue[], b: readonly SQLOutputValue[]): number {
  return Number(b.at(-1)) - Number(a.at(-1))
}
