import type { DatabaseSync } from 'node:sqlite'
import { contestWire } from '../../project/answers/contests.ts'
import type { Books, HeadBooks } from '../../project/fold/books.ts'
import { msOf } from '../../protocol/moment.ts'
import type { ContestWire } from '../../protocol/endpoints/contest-endpoints.ts'
import { totalsOfTally } from '../../project/fold/tally.ts'
import { weekOf, weekStrided } from '../../project/fold/week-sums.ts'
import { number, parseLoyalty, type Row, text } from '../store/codec.ts'
import { contestOfRow } from './contest-rows.ts'
import { mergeRuns, type Run, runOf } from '../store/index-runs.ts'
import { openContestSearch, contestParts } from './contest-search.ts'
import type { PrefixReader } from './prefix-reader.ts'
import { openContests, openCorrections, type StoredContests } from './stored-repository.ts'
import { openUnpaid } from './unpaid-rows.ts'

/** Opens the books of a store. The returned function reads them in the caller's read transaction. */
export function openBooks(db: DatabaseSync, prefix: PrefixReader): () => Books {
  const shownOf = openShownContests()
  const contests = openContests(db)
  const listings = openListings(db, prefix, contests, shownOf)
  const find = openContestSearch(db, contests, shownOf)
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

/** Most contests of which the form in answers is kept. One takes about 900 bytes, and 1,400 with the longest title. */
const SHOWN_KEPT_MAX = 10_000

/**
 * Opens a function that gives the contest of a row as answers show it. A list has most contests of the list before, so
 * each is made once after each of its events.
 */
function openShownContests(): (row: Row) => ContestWire {
  const kept = new Map<number, Readonly<{ lastSeq: number; shown: ContestWire }>>()
  return (row) => {
    const id = number(row, 'id')
    const lastSeq = number(row, 'last_seq')
    const before = kept.get(id)
    if (before?.lastSeq === lastSeq) return before.shown
    const shown = contestWire(contestOfRow(row))
    if (kept.size >= SHOWN_KEPT_MAX) kept.clear()
    kept.set(id, { lastSeq, shown })
    return shown
  }
}

function openListings(
  db: DatabaseSync,
  prefix: PrefixReader,
  { contestOf }: StoredContests,
  shownOf: (row: Row) => ContestWire,
): Omit<HeadBooks, 'findContests'> {
  const contests = db.prepare(
    'SELECT * FROM contests WHERE scheduled_seq < ? ORDER BY scheduled_seq DESC LIMIT ?',
  )
  const seqsOf = db.prepare(
    `SELECT scheduled_seq FROM contests
     WHERE status = ? AND outcome IS ? AND scheduled_seq > ? AND scheduled_seq < ?
     ORDER BY scheduled_seq DESC LIMIT ?`,
  )
  const scheduledAt = db.prepare('SELECT * FROM contests WHERE scheduled_seq = ?')
  const closed = db.prepare(
    `SELECT * FROM contests WHERE closed_at >= ? AND closed_at < ?
     ORDER BY closed_at DESC, scheduled_seq DESC LIMIT ?`,
  )
  const lastPayout = db.prepare(
    'SELECT at FROM prize_payouts WHERE contest = ? AND kind = ? ORDER BY seq DESC LIMIT 1',
  )
  const payouts = db.prepare(
    `SELECT e.line AS line FROM takes t JOIN events e ON e.seq = t.seq
     WHERE t.contest = ? AND t.seq > ? AND t.lot = 0 ORDER BY t.seq LIMIT ?`,
  )
  const loyalty = db.prepare('SELECT body FROM loyalty ORDER BY month')
  return {
    contest: contestOf,
    contests({ after, limit, ...filter }) {
      const last = after === null ? undefined : contestOf(after)
      if (after !== null && last === undefined) return []
      const before = last?.scheduledSeq ?? Number.MAX_SAFE_INTEGER
      const parts = contestParts(filter)
      if (parts === null) return contests.all(before, limit).map(shownOf)
      const bounds = { order: 'desc', after: 0, before } as const
      const runs = parts.map((part) => {
        const read: Run['read'] = (low, high, count) =>
          seqsOf.all(...part, low, high, count).map((row) => number(row, 'scheduled_seq'))
        return runOf(read, bounds)
      })
      const page = mergeRuns(runs, bounds)(limit)
      return page.flatMap((seq) => scheduledAt.all(seq).map(shownOf))
    },
    closedContests: ({ fromMs, toMs, limit }) => closed.all(fromMs, toMs, limit).map(contestOfRow),
    lastPayout(contestId, kind) {
      const row = lastPayout.get(contestId, kind)
      return row === undefined ? null : msOf(number(row, 'at'))
    },
    payoutLines: (contestId, after, limit) =>
      payouts.all(contestId, after, limit).map((row) => text(row, 'line')),
    ...openUnpaid(db, prefix, contestOf),
    loyalty: () => loyalty.all().map((row) => parseLoyalty(text(row, 'body'))),
    correction: openCorrections(db),
  }
}
