import type { DatabaseSync } from 'node:sqlite'
import type { Books } from '../../project/fold/books.ts'
import { prizeTotals, unpaidOf } from '../../project/fold/contest.ts'
import {
  addSums,
  bucketsAfter,
  NO_SUMS,
  parseTerms,
  sumsCompleteFrom,
  totalsOfRows,
  totalsOfSums,
  type UnpaidRow,
  type UnpaidSums,
  type UnpaidTotals,
  WHOLE,
} from '../../project/fold/unpaid.ts'
import { type Amount, billionths, ZERO } from '../../protocol/amount.ts'
import type { Ms } from '../../protocol/moment.ts'
import { type ContestId, contestIdOf, seqOf } from '../../protocol/seq.ts'
import { decodeAmount, number, type Row, text } from '../store/codec.ts'
import type { PrefixReader } from './prefix-reader.ts'
import { ADDED_SUMS, addedSumsOf, ALL_CONTESTS } from './unpaid-columns.ts'

const ROW_COLUMNS = 'seq, contest, kind, terms, kots'

/** Opens the unpaid prizes of a store. They are read in the caller's read transaction. */
export function openUnpaid(
  db: DatabaseSync,
  { head, newest }: Pick<PrefixReader, 'head' | 'newest'>,
  contestOf: Books['contest'],
): Pick<Books, 'unpaid' | 'unpaidTotals'> {
  const rows = db.prepare(`SELECT ${ROW_COLUMNS} FROM unpaid WHERE seq > ? ORDER BY seq LIMIT ?`)
  const rowsOf = db.prepare(
    `SELECT ${ROW_COLUMNS} FROM unpaid INDEXED BY unpaid_contest
     WHERE contest = ? AND seq > ? ORDER BY seq LIMIT ?`,
  )
  const sums = db.prepare(
    `SELECT ${ADDED_SUMS} FROM unpaid_sums WHERE contest = ? AND level = ? AND bucket >= ? AND bucket < ?`,
  )
  sums.setReadBigInts(true)

  /** Whether the stored sums suffice for `now`. They do, unless the reader's clock is far behind the log. */
  function sumsTell(now: Ms): boolean {
    const { atMs } = head()
    return atMs === null || now >= sumsCompleteFrom(atMs)
  }

  function notRedeemed(contestId: ContestId | null): Amount {
    if (contestId === null) return billionths(newest().figures.prizesNotRedeemed)
    const contest = contestOf(contestId)
    return contest === undefined ? ZERO : unpaidOf(prizeTotals(contest))
  }

  function totalsOf(contestId: ContestId | null, now: Ms): UnpaidTotals {
    const sumsIn = (level: number, from: number, to: number): UnpaidSums =>
      addedSumsOf(sums.get(contestId ?? ALL_CONTESTS, level, from, to) ?? {})
    const whole = sumsIn(WHOLE.level, WHOLE.bucket, WHOLE.bucket + 1)
    const after = bucketsAfter(now).reduce(
      (total, { level, from, to }) => addSums(total, sumsIn(level, from, to)),
      NO_SUMS,
    )
    return totalsOfSums(notRedeemed(contestId), whole, after)
  }

  return {
    unpaid: ({ contestId, after, limit }) =>
      (contestId === null ? rows.all(after, limit) : rowsOf.all(contestId, after, limit)).map(rowOf),
    unpaidTotals(contestId, now) {
      if (sumsTell(now)) return totalsOf(contestId, now)
      const all = contestId === null ? rows.iterate(0, -1) : rowsOf.iterate(contestId, 0, -1)
      return totalsOfRows(Iterator.from(all).map(rowOf), now)
    },
  }
}

function rowOf(row: Row): UnpaidRow {
  return {
    first: seqOf(number(row, 'seq')),
    contestId: contestIdOf(number(row, 'contest')),
    kind: text(row, 'kind'),
    terms: parseTerms(text(row, 'terms')),
    unpaid: decodeAmount(text(row, 'kots')),
  }
}
