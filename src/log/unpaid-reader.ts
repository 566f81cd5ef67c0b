import type { DatabaseSync } from 'node:sqlite'
import type { Books } from '../project/books.ts'
import { assert } from '../protocol/brand.ts'
import {
  addSums,
  NO_SUMS,
  placesAfter,
  sumsTellFrom,
  totalsOfRows,
  totalsOfSums,
  WHOLE,
} from '../project/unpaid.ts'
import type { UnpaidRow, UnpaidSums } from '../project/unpaid.ts'
import { billionths } from '../protocol/amount.ts'
import type { Ms } from '../protocol/moment.ts'
import type { ContestId } from '../protocol/seq.ts'
import { contestIdOf, seqOf } from '../protocol/seq.ts'
import { amountOf, number, parseTerms, text, unpaidSumsOf } from './codec.ts'
import type { Row } from './codec.ts'
import type { PrefixReader } from './prefix-reader.ts'

/** What is unpaid as it stands in the store, inside the caller's read transaction. */
export function openUnpaid(
  db: DatabaseSync,
  { head, newest }: Pick<PrefixReader, 'head' | 'newest'>,
): Pick<Books, 'unpaid' | 'unpaidTotals'> {
  const columns = 'seq, contest, kind, terms, kots'
  const rows = db.prepare(`SELECT ${columns} FROM unpaid WHERE seq > ? ORDER BY seq LIMIT ?`)
  // Found by the lots' own index: one of the rows would be a page more that a prize has to write.
  const firstsOf = db.prepare(
    'SELECT min(seq) AS seq FROM lots WHERE contest = ? AND terms IS NOT NULL GROUP BY kind, terms',
  )
  const rowAt = db.prepare(`SELECT ${columns} FROM unpaid WHERE seq = ?`)
  const sums = db.prepare(
    'SELECT locked, claim, plain, overpaid FROM unpaid_sums WHERE level = ? AND bucket >= ? AND bucket < ?',
  )
  sums.setReadBigInts(true)

  function sumsIn(level: number, from: number, to: number, before: UnpaidSums): UnpaidSums {
    let total = before
    for (const row of sums.all(level, from, to)) total = addSums(total, unpaidSumsOf(row))
    return total
  }

  function rowsOf(contestId: ContestId): readonly UnpaidRow[] {
    return firstsOf
      .all(contestId)
      .map((first) => number(first, 'seq'))
      .toSorted((a, b) => a - b)
      .map((seq) => {
        const found = rowAt.get(seq)
        assert(found !== undefined, `lot ${seq} is the first of a row that is not there`)
        return rowOf(found)
      })
  }

  /** Whether the sums have all that is read at `now`: a clock far behind the log asks for what they have let go. */
  function sumsTell(now: Ms): boolean {
    const { atMs } = head()
    return atMs === null || now >= sumsTellFrom(atMs)
  }

  return {
    unpaid({ contestId, after, limit }) {
      if (contestId === null) return rows.all(after, limit).map(rowOf)
      return rowsOf(contestId)
        .filter(({ first }) => first > after)
        .slice(0, limit)
    },
    unpaidTotals(contestId, now) {
      // One contest's are summed row by row: it has as many as the operator gave it terms.
      if (contestId !== null) return totalsOfRows(rowsOf(contestId), now)
      if (!sumsTell(now)) return totalsOfRows(rows.all(0, -1).map(rowOf), now)
      const whole = sumsIn(WHOLE.level, WHOLE.bucket, WHOLE.bucket + 1, NO_SUMS)
      const after = placesAfter(now).reduce(
        (total, { level, from, to }) => sumsIn(level, from, to, total),
        NO_SUMS,
      )
      return totalsOfSums(billionths(newest().figures.prizesNotRedeemed), whole, after)
    },
  }
}

function rowOf(row: Row): UnpaidRow {
  return {
    first: seqOf(number(row, 'seq')),
    contestId: contestIdOf(number(row, 'contest')),
    kind: text(row, 'kind'),
    terms: parseTerms(text(row, 'terms')),
    unpaid: amountOf(text(row, 'kots')),
  }
}
