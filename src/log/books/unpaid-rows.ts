import type { DatabaseSync } from 'node:sqlite'
import { type Lot, prizeTotals, unpaidOf } from '../../project/fold/contest.ts'
import type { Changes, LotMoment } from '../../project/fold/fold.ts'
import type { RowChange } from '../../project/fold/unpaid-groups.ts'
import {
  addSums,
  areZero,
  bucketsAfter,
  bucketsBefore,
  formatTerms,
  NO_SUMS,
  parseTerms,
  type SumBucket,
  sumsCompleteFrom,
  sumsOf,
  totalsOfRows,
  totalsOfSums,
  UNPAID_SUMS,
  isUnpaidAsked,
  type UnpaidFilter,
  type UnpaidRow,
  type UnpaidSums,
  unpaidOfSums,
  type UnpaidTotals,
  WHOLE,
} from '../../project/fold/unpaid.ts'
import { add, type Amount, billionths, subtract, ZERO } from '../../protocol/amount.ts'
import type { Ms } from '../../protocol/moment.ts'
import { recordOf } from '../../protocol/brand.ts'
import { UNPAID_STATUSES } from '../../protocol/enumerations.ts'
import { decodeAmount, number, type Row, text } from '../store/codec.ts'
import type { Books, Head } from '../../project/fold/books.ts'
import { mergeRuns, type Run, runOf } from '../store/index-runs.ts'
import type { Tally } from '../../project/fold/tally.ts'
import { type ContestId, contestIdOf, seqOf } from '../../protocol/seq.ts'

type ChangedLots = Pick<Changes, 'lots' | 'holds' | 'unpaid' | 'lotMoments'>

/** Writes lots, holds and unpaid prizes. */
type UnpaidWriter = Readonly<{
  /** Writes the changes of a batch; `at` is the moment of its last event. */
  write(changed: ChangedLots, at: Ms): void
  /** Empties the cache, after a rollback. */
  forget(): void
}>

/**
 * Opens the writer of lots, holds, and the rows and sums of unpaid prizes. Rows depend only on lots and holds. Sums
 * depend on the rows and on a moment. For all contests and kinds it is that of the log's last event. For one contest,
 * kind or both it is that of the last event that could change their lots. So the sums do not depend on how events are
 * divided into batches.
 */
export function openUnpaidWriter(db: DatabaseSync): UnpaidWriter {
  const sql = prepare(db)
  let tellFrom: Ms | null = null
  return {
    write({ lots, holds, unpaid, lotMoments }, at) {
      const from = sumsCompleteFrom(at)
      const all = { ...ALL, from }
      if (tellFrom !== from) removePassed(sql, all)
      tellFrom = from
      for (const lot of lots.values()) writeLot(sql, lot)
      for (const { contestId, kind, seq, reviewUntil } of holds.values())
        sql.putHold.run(contestId, kind, seq, reviewUntil)
      const changes = [...unpaid.values()]
      writeRows(sql, changes)
      writeSums(sql, all, changes)
      const moments = [...lotMoments.values()]
      for (const groupOf of GROUPINGS) {
        const changed = Map.groupBy(changes, (change) => keyOf(groupOf(change)))
        for (const [key, group] of movedGroups(moments, groupOf)) {
          removePassed(sql, group)
          writeSums(sql, group, changed.get(key) ?? [])
        }
      }
    },
    forget() {
      tellFrom = null
    },
  }
}

/** Writes the columns of a lot that may have changed. Omitting `open` saves writing a page of its index. */
function writeLot(sql: Statements, lot: Lot): void {
  const { seq, contestId, kind, atMs, unlocksAt, claim } = lot
  const open = lot.unpaid === ZERO ? null : 1
  const heldFrom = lot.heldFrom === seq ? null : lot.heldFrom
  const changed = [String(lot.amount), String(lot.unpaid), lot.reviewUntil, heldFrom] as const
  const kept = sql.isOpen.get(seq)
  if (kept === undefined)
    sql.addLot.run(seq, contestId, kind, open, atMs, ...changed, unlocksAt, claim ? 1 : 0)
  else if (kept['open'] === open) sql.changeLot.run(...changed, seq)
  else sql.moveLot.run(open, ...changed, seq)
}

function writeRows(sql: Statements, changes: readonly RowChange[]): void {
  for (const { before, after } of changes)
    if (before !== null && before.first !== after?.first) sql.removeRow.run(before.first)
  // After all removals: a changed lot can be the first of one row before and of another row after.
  for (const { contestId, kind, terms, before, after } of changes) {
    if (after === null) continue
    const { first } = after
    const kots = String(after.unpaid)
    // An update does not write the index of contests.
    if (before?.first !== first) sql.addRow.run(first, contestId, kind, formatTerms(terms), kots)
    else if (before.unpaid !== after.unpaid) sql.changeRow.run(kots, first)
  }
}

/** Contest and kind of sums: 0 for all contests, empty for all kinds. */
type SumGroup = Readonly<{ contest: number; kind: string }>

const ALL: SumGroup = { contest: 0, kind: '' }

/** Sums of a prize beside those of all prizes: of its contest, of its kind, and of both. */
const GROUPINGS: readonly ((prize: Readonly<{ contestId: ContestId; kind: string }>) => SumGroup)[] = [
  ({ contestId }) => ({ ...ALL, contest: contestId }),
  ({ kind }) => ({ ...ALL, kind }),
  ({ contestId, kind }) => ({ contest: contestId, kind }),
]

function keyOf({ contest, kind }: SumGroup): string {
  return `${contest} ${kind}`
}

/** Sums of a group, and the earliest present for which they must be complete. */
type MovedGroup = SumGroup & Readonly<{ from: Ms }>

/** Groups whose lots may have changed, by key, each with the moment of its last event. */
function movedGroups(
  moments: readonly LotMoment[],
  groupOf: (moment: LotMoment) => SumGroup,
): ReadonlyMap<string, MovedGroup> {
  const groups = new Map<string, MovedGroup>()
  for (const moment of moments) {
    const group = groupOf(moment)
    const from = sumsCompleteFrom(moment.atMs)
    const known = groups.get(keyOf(group))
    if (known === undefined || known.from < from) groups.set(keyOf(group), { ...group, from })
  }
  return groups
}

function removePassed(sql: Statements, { contest, kind, from }: MovedGroup): void {
  for (const { level, to } of bucketsBefore(from)) sql.removePassed.run(contest, kind, level, to)
}

function writeSums(
  sql: Statements,
  { contest, kind, from }: MovedGroup,
  changes: readonly RowChange[],
): void {
  const added = new Map<string, readonly [SumBucket, UnpaidSums]>()
  for (const { terms, before, after } of changes) {
    const amount = subtract(after?.unpaid ?? ZERO, before?.unpaid ?? ZERO)
    for (const [place, sums] of sumsOf(terms, amount, from, kind !== '')) {
      const key = `${place.level} ${place.bucket}`
      added.set(key, [place, addSums(added.get(key)?.[1] ?? NO_SUMS, sums)])
    }
  }
  for (const [{ level, bucket }, sums] of added.values()) {
    if (areZero(sums)) continue
    const row = sql.sums.get(contest, kind, level, bucket)
    const after = addSums(row === undefined ? NO_SUMS : unpaidSumsOf(row), sums)
    if (areZero(after)) sql.removeSums.run(contest, kind, level, bucket)
    else sql.putSums.run(contest, kind, level, bucket, ...UNPAID_SUMS.map((name) => formatSum(after[name])))
  }
}

type Statements = ReturnType<typeof prepare>

function prepare(db: DatabaseSync) {
  const sums = db.prepare(
    'SELECT locked, claim, plain, overpaid FROM unpaid_sums WHERE contest = ? AND kind = ? AND level = ? AND bucket = ?',
  )
  sums.setReadBigInts(true)
  return {
    isOpen: db.prepare('SELECT open FROM lots WHERE seq = ?'),
    addLot: db.prepare(
      `INSERT INTO lots (seq, contest, kind, open, at, amount, unpaid, review_until, held_from, unlocks_at, claim)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    changeLot: db.prepare(
      'UPDATE lots SET amount = ?, unpaid = ?, review_until = ?, held_from = ? WHERE seq = ?',
    ),
    moveLot: db.prepare(
      'UPDATE lots SET open = ?, amount = ?, unpaid = ?, review_until = ?, held_from = ? WHERE seq = ?',
    ),
    putHold: db.prepare(
      'INSERT OR REPLACE INTO holds (contest, kind, seq, review_until) VALUES (?, ?, ?, ?)',
    ),
    addRow: db.prepare('INSERT INTO unpaid (seq, contest, kind, terms, kots) VALUES (?, ?, ?, ?, ?)'),
    changeRow: db.prepare('UPDATE unpaid SET kots = ? WHERE seq = ?'),
    removeRow: db.prepare('DELETE FROM unpaid WHERE seq = ?'),
    sums,
    putSums: db.prepare(
      `INSERT OR REPLACE INTO unpaid_sums (contest, kind, level, bucket, locked, claim, plain, overpaid)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    removePassed: db.prepare(
      'DELETE FROM unpaid_sums WHERE contest = ? AND kind = ? AND level = ? AND bucket < ?',
    ),
    removeSums: db.prepare(
      'DELETE FROM unpaid_sums WHERE contest = ? AND kind = ? AND level = ? AND bucket = ?',
    ),
  }
}

// A column of `unpaid_sums` is null for zero, an integer when the sum fits 64 bits, and decimal text otherwise.
// SQLite's `sum()` throws past 64 bits. So integers are added up in halves of 32 bits, and texts one by one.

const INT64_MAX = (1n << 63n) - 1n
const HALF_BITS = 32n

/** The sums of a row. The statement must read integers as `bigint`. */
function unpaidSumsOf(row: Row): UnpaidSums {
  return recordOf(UNPAID_SUMS, (name) => {
    const sum = row[name]
    if (sum === null) return ZERO
    return typeof sum === 'bigint' ? billionths(sum) : decodeAmount(text(row, name))
  })
}

/** Formats a sum in the fewest bytes, so that few pages split. */
function formatSum(amount: Amount): bigint | string | null {
  if (amount === ZERO) return null
  return amount <= INT64_MAX && amount >= -INT64_MAX ? amount : String(amount)
}

/** Columns of a query that adds up rows of sums. `addedSumsOf` reads its result. */
const ADDED_SUMS: string = UNPAID_SUMS.flatMap((name) => [
  `sum(CASE typeof(${name}) WHEN 'integer' THEN ${name} >> ${HALF_BITS} END) AS ${name}_high`,
  `sum(CASE typeof(${name}) WHEN 'integer' THEN ${name} & ${(1n << HALF_BITS) - 1n} END) AS ${name}_low`,
  `group_concat(CASE typeof(${name}) WHEN 'text' THEN ${name} END) AS ${name}_texts`,
]).join(', ')

function addedSumsOf(row: Row): UnpaidSums {
  return recordOf(UNPAID_SUMS, (name) => {
    const texts = row[`${name}_texts`]
    const long = typeof texts === 'string' ? texts.split(',') : []
    const short = (bigintOf(row, `${name}_high`) << HALF_BITS) + bigintOf(row, `${name}_low`)
    return billionths(long.reduce((total, digits) => total + BigInt(digits), short))
  })
}

function bigintOf(row: Row, column: string): bigint {
  const value = row[column]
  return typeof value === 'bigint' ? value : 0n
}

const ROW_COLUMNS = 'seq, contest, kind, terms, kots'

/** Opens the unpaid prizes of a store, read in the caller's read transaction. */
export function openUnpaid(
  db: DatabaseSync,
  { head, newest }: Readonly<{ head(): Head; newest(): Tally }>,
  contestOf: Books['contest'],
): Pick<Books, 'unpaid' | 'unpaidTotals'> {
  const rows = db.prepare(`SELECT ${ROW_COLUMNS} FROM unpaid WHERE seq > ? ORDER BY seq LIMIT ?`)
  const rowAt = db.prepare(`SELECT ${ROW_COLUMNS} FROM unpaid WHERE seq = ?`)
  const runsOf = openRuns(db)
  const sums = db.prepare(
    `SELECT ${ADDED_SUMS} FROM unpaid_sums
     WHERE contest = ? AND kind = ? AND level = ? AND bucket >= ? AND bucket < ?`,
  )
  sums.setReadBigInts(true)

  /** Whether the stored sums are right for `now`. They are, unless the reader's clock is far behind the log. */
  function sumsTell(now: Ms): boolean {
    const { atMs } = head()
    return atMs === null || now >= sumsCompleteFrom(atMs)
  }

  /** All unpaid prizes of a group, less overpaid ones; `whole` are its sums over all time. */
  function notRedeemed({ contest: id, kind }: SumGroup, whole: UnpaidSums): Amount {
    if (kind !== '') return unpaidOfSums(whole)
    if (id === ALL.contest) return billionths(newest().figures.prizesNotRedeemed)
    const contest = contestOf(contestIdOf(id))
    return contest === undefined ? ZERO : unpaidOf(prizeTotals(contest))
  }

  function totalsOf(group: SumGroup, now: Ms): UnpaidTotals {
    const sumsIn = (level: number, from: number, to: number): UnpaidSums =>
      addedSumsOf(sums.get(group.contest, group.kind, level, from, to) ?? {})
    const whole = sumsIn(WHOLE.level, WHOLE.bucket, WHOLE.bucket + 1)
    const after = bucketsAfter(now).reduce(
      (total, { level, from, to }) => addSums(total, sumsIn(level, from, to)),
      NO_SUMS,
    )
    return totalsOfSums(notRedeemed(group, whole), whole, after)
  }

  return {
    unpaid({ after, limit, ...filter }) {
      if (filter.contestIds === null && filter.kinds === null) return rows.all(after, limit).map(rowOf)
      const bounds = { order: 'asc', after, before: Number.MAX_SAFE_INTEGER } as const
      return mergeRuns(runsOf(filter, bounds), bounds)(limit).flatMap((seq) => rowAt.all(seq).map(rowOf))
    },
    unpaidTotals(filter, now) {
      if (!sumsTell(now)) {
        const all = Iterator.from(rows.iterate(0, -1)).map(rowOf)
        const asked = all.filter((row) => isUnpaidAsked(row, filter))
        return totalsOfRows(asked, now)
      }
      return groupsIn(filter)
        .map((group) => totalsOf(group, now))
        .reduce((total, one) => recordOf(UNPAID_STATUSES, (status) => add(total[status], one[status])))
    },
  }
}

/** Groups that together have the prizes of a filter, each prize once. */
function groupsIn({ contestIds, kinds }: UnpaidFilter): readonly SumGroup[] {
  const contests = contestIds === null ? [ALL.contest] : new Set<number>(contestIds)
  const ofKinds = kinds === null ? [ALL.kind] : [...new Set(kinds)]
  return [...contests].flatMap((contest) => ofKinds.map((kind) => ({ contest, kind })))
}

/** Opens the runs of rows of a filter that is not for all prizes. */
function openRuns(
  db: DatabaseSync,
): (filter: UnpaidFilter, bounds: Readonly<{ after: number; before: number }>) => readonly Run[] {
  const select = (index: string, where: string) =>
    db.prepare(
      `SELECT seq FROM unpaid INDEXED BY ${index} WHERE ${where} AND seq > ? AND seq < ? ORDER BY seq LIMIT ?`,
    )
  const ofContest = select('unpaid_contest', 'contest = ?')
  const ofKind = select('unpaid_kind', 'kind = ?')
  const ofBoth = select('unpaid_contest_kind', 'contest = ? AND kind = ?')
  return (filter, bounds) =>
    groupsIn(filter).map(({ contest, kind }) => {
      const statement = kind === ALL.kind ? ofContest : contest === ALL.contest ? ofKind : ofBoth
      const group = [contest, kind].filter((value) => value !== ALL.contest && value !== ALL.kind)
      const read: Run['read'] = (low, high, count) =>
        statement.all(...group, low, high, count).map((row) => number(row, 'seq'))
      return runOf(read, bounds)
    })
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
