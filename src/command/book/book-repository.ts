import type { DatabaseSync } from 'node:sqlite'
import { contestWire } from '../../project/answers/contests.ts'
import { loyaltyRuns } from '../../project/answers/loyalty-runs.ts'
import type { Books } from '../../project/fold/books.ts'
import {
  type ContestState,
  type Hold,
  type Lot,
  type PrizeSums,
  type Take,
  unpaidOf,
} from '../../project/fold/contest.ts'
import { type Changes, type Repository, WITHOUT_ADMISSION } from '../../project/fold/fold.ts'
import type { LoyaltyState } from '../../project/fold/loyalty.ts'
import { type Amount, formatAmount, parsePrice, ZERO } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { CONTEST_STATUSES } from '../../protocol/enumerations.ts'
import { formatAt, type Month, type Ms, msOf } from '../../protocol/moment.ts'
import { type ContestId, contestIdOf, type Seq, seqOf } from '../../protocol/seq.ts'
import { openInsert } from './book-file.ts'
import { amountOf, type BookRow, openEntryReader } from './book-rows.ts'
import {
  CONTEST_POOLS,
  CONTEST_PRIZES,
  CONTESTS,
  HOLDS,
  LOYALTY_RUNS,
  PRIZE_PAYMENTS,
  PRIZES,
} from './book-tables.ts'

/** State of the fold in the tables that readers see. Nothing of it is stored twice. */
type BookRepository = Readonly<{
  repository: Repository
  /** Writes the changes of a batch. Its events and details must be in their tables already. */
  put(changes: Changes): void
  /** Loyalty rewards by ascending month. */
  loyalty(): readonly LoyaltyState[]
  /** Prizes that are unpaid or overpaid, in the order of seq, without later holds, and the hold of each. */
  openPrizes(): Generator<Readonly<{ lot: Lot; hold: Hold | undefined }>, void>
}>

/** Opens the state in a book. `loyalty` is that of the last commit, which has no table of its own. */
export function openBookRepository(db: DatabaseSync, loyalty: readonly LoyaltyState[]): BookRepository {
  const months = new Map<Month, LoyaltyState>(loyalty.map((state) => [state.month, state]))
  const sorted = (): readonly LoyaltyState[] =>
    [...months.values()].toSorted((a, b) => (a.month < b.month ? -1 : 1))
  const contests = openContestRows(db)
  const lots = openLotRows(db)
  const price = db.prepare(
    `SELECT seq, price FROM details WHERE price IS NOT NULL AND seq < ?
     AND NOT EXISTS (SELECT 1 FROM details c WHERE c.corrects = details.seq) ORDER BY seq DESC LIMIT 1`,
  )
  const putRuns = openLoyaltyRows(db)
  return {
    repository: {
      entry: openEntryReader(db),
      ...WITHOUT_ADMISSION,
      contest: contests.get,
      openLots: lots.open,
      hold: lots.hold,
      lot: lots.lot,
      take: lots.take,
      takesBy: lots.takesBy,
      takesFrom: lots.takesFrom,
      loyalty: (month) => months.get(month),
      priceBefore(seq) {
        const row = price.get(seq)
        const value = parsePrice(String(row?.['price'] ?? ''))
        return row === undefined || value === undefined
          ? undefined
          : { seq: seqOf(Number(row['seq'])), price: value }
      },
    },
    put(changes) {
      for (const contest of changes.contests.values()) contests.put(contest)
      lots.put(changes)
      for (const [month, state] of changes.loyalty) months.set(month, state)
      if (changes.loyalty.size > 0) putRuns(sorted())
    },
    loyalty: sorted,
    openPrizes: lots.allOpen,
  }
}

type ContestRows = Readonly<{
  get(id: ContestId): ContestState | undefined
  put(contest: ContestState): void
}>

function openContestRows(db: DatabaseSync): ContestRows {
  const contest = db.prepare('SELECT * FROM contests WHERE id = ?')
  const prizes = db.prepare('SELECT kind, owed, redeemed, expired FROM contest_prizes WHERE contestId = ?')
  const pools = db.prepare('SELECT direction, kind, kots FROM contest_pools WHERE contestId = ?')
  const putContest = openInsert(db, CONTESTS)
  const putPrize = openInsert(db, CONTEST_PRIZES)
  const putPool = openInsert(db, CONTEST_POOLS)
  return {
    get(id) {
      const row = contest.get(id)
      return row === undefined ? undefined : contestOf(row, prizes.all(id), pools.all(id))
    },
    put(state) {
      const { id, scheduledSeq, lastSeq } = state
      const row: BookRow = { ...contestWire(state), scheduledSeq, lastSeq }
      putContest(CONTESTS.columns.map(({ name }) => valueOf(row[name])))
      for (const [kind, sums] of state.prizes) {
        const amounts = [sums.owed, sums.paid, sums.expired, unpaidOf(sums)]
        putPrize([id, kind, ...amounts.map(formatAmount)])
      }
      for (const [kind, kots] of state.poolIn) putPool([id, 'in', kind, formatAmount(kots)])
      for (const [kind, kots] of state.poolOut) putPool([id, 'out', kind, formatAmount(kots)])
    },
  }
}

function contestOf(row: BookRow, prizes: readonly BookRow[], pools: readonly BookRow[]): ContestState {
  const ms = (name: string): Ms | null => msOrNull(row, name)
  const status = CONTEST_STATUSES.find((name) => name === row['status'])
  assert(status !== undefined, 'a contest of a book has a status')
  const poolOf = (direction: string): ReadonlyMap<string, Amount> =>
    new Map(
      pools
        .filter((pool) => pool['direction'] === direction)
        .map(({ kind, kots }) => [String(kind), amountOf(kots)]),
    )
  return {
    id: contestIdOf(Number(row['id'])),
    title: typeof row['title'] === 'string' ? row['title'] : null,
    status,
    scheduledSeq: seqOf(Number(row['scheduledSeq'])),
    lastSeq: seqOf(Number(row['lastSeq'])),
    opensAt: msOf(Number(row['opensAtMs'])),
    closesAt: ms('closesAtMs'),
    openedAt: ms('openedAtMs'),
    closedAt: ms('closedAtMs'),
    paidAt: ms('paidAtMs'),
    cancelledAt: ms('cancelledAtMs'),
    entries: BigInt(Number(row['entries'])),
    plays: BigInt(Number(row['plays'])),
    spentOnPlay: amountOf(row['spentOnPlay']),
    poolIn: poolOf('in'),
    poolOut: poolOf('out'),
    prizes: new Map(
      prizes.map(({ kind, owed, redeemed, expired }): [string, PrizeSums] => [
        String(kind),
        { owed: amountOf(owed), paid: amountOf(redeemed), expired: amountOf(expired) },
      ]),
    ),
  }
}

type LotRows = Pick<Repository, 'lot' | 'take' | 'takesBy' | 'takesFrom' | 'hold'> &
  Readonly<{
    open: Repository['openLots']
    allOpen: BookRepository['openPrizes']
    put(changes: Pick<Changes, 'lots' | 'takes' | 'holds'>): void
  }>

/** Rows with something unpaid, as the partial index has them. */
const UNPAID = "unpaid <> '0.000000000'"

function openLotRows(db: DatabaseSync): LotRows {
  const open = db.prepare(`SELECT * FROM prizes WHERE contestId = ? AND kind = ? AND ${UNPAID}`)
  const allOpen = db.prepare(`SELECT * FROM prizes WHERE ${UNPAID} ORDER BY seq`)
  const lot = db.prepare('SELECT * FROM prizes WHERE seq = ?')
  const hold = db.prepare('SELECT seq, reviewUntilMs FROM holds WHERE contestId = ? AND kind = ?')
  const take = db.prepare('SELECT * FROM prize_payments WHERE seq = ? AND prize = ?')
  const takesBy = db.prepare('SELECT * FROM prize_payments WHERE seq = ?')
  const takesFrom = db.prepare('SELECT * FROM prize_payments WHERE prize = ?')
  const putLot = openInsert(db, PRIZES)
  const putTake = openInsert(db, PRIZE_PAYMENTS)
  const dropTake = db.prepare('DELETE FROM prize_payments WHERE seq = ? AND prize = ?')
  const putHold = openInsert(db, HOLDS)

  function holdOf(contestId: ContestId, kind: string): Hold | undefined {
    const row = hold.get(contestId, kind)
    if (row === undefined) return undefined
    const reviewUntil = msOf(Number(row['reviewUntilMs']))
    return { contestId, kind, seq: seqOf(Number(row['seq'])), reviewUntil }
  }

  return {
    open: (contestId, kind) => open.all(contestId, kind).map(lotOf),
    hold: holdOf,
    *allOpen() {
      for (const row of allOpen.iterate()) {
        const found = lotOf(row)
        yield { lot: found, hold: holdOf(found.contestId, found.kind) }
      }
    },
    lot(seq) {
      const row = lot.get(seq)
      return row === undefined ? undefined : lotOf(row)
    },
    take(seq, from) {
      const row = take.get(seq, from)
      return row === undefined ? undefined : takeOf(row)
    },
    takesBy: (seq: Seq) => takesBy.all(seq).map(takeOf),
    takesFrom: (from: Seq) => takesFrom.all(from).map(takeOf),
    put({ lots, takes, holds }) {
      for (const one of lots.values()) {
        const { seq, contestId, kind, atMs, amount, unpaid, unlocksAt, reviewUntil, claim, heldFrom } = one
        const amounts = [formatAmount(amount), formatAmount(unpaid)]
        const terms = [...pairOf(unlocksAt), ...pairOf(reviewUntil)]
        putLot([seq, contestId, kind, ...pairOf(atMs), ...amounts, ...terms, Number(claim), heldFrom])
      }
      for (const byLot of takes.values()) {
        for (const { seq, lot: from, amount } of byLot.values()) {
          if (amount === ZERO) dropTake.run(seq, from)
          else putTake([seq, from, formatAmount(amount)])
        }
      }
      for (const { contestId, kind, seq, reviewUntil } of holds.values())
        putHold([contestId, kind, seq, ...pairOf(reviewUntil)])
    },
  }
}

function lotOf(row: BookRow): Lot {
  return {
    seq: seqOf(Number(row['seq'])),
    contestId: contestIdOf(Number(row['contestId'])),
    kind: String(row['kind']),
    atMs: msOf(Number(row['atMs'])),
    amount: amountOf(row['kots']),
    unpaid: amountOf(row['unpaid']),
    unlocksAt: msOrNull(row, 'unlocksAtMs'),
    reviewUntil: msOrNull(row, 'reviewUntilMs'),
    heldFrom: seqOf(Number(row['heldFrom'])),
    claim: row['claim'] === 1,
  }
}

function takeOf({ seq, prize, kots }: BookRow): Take {
  return { seq: seqOf(Number(seq)), lot: seqOf(Number(prize)), amount: amountOf(kots) }
}

/** Opens the writer of all loyalty rewards: there are twelve a year. */
function openLoyaltyRows(db: DatabaseSync): (states: readonly LoyaltyState[]) => void {
  const put = openInsert(db, LOYALTY_RUNS)
  const clear = db.prepare('DELETE FROM loyalty_runs')
  return (states) => {
    clear.run()
    for (const run of loyaltyRuns({ head: NO_HEAD, loyalty: () => states }).runs) {
      const { input, output, ...row } = run
      const flat: BookRow = { ...row, ...prefixed('input', input), ...prefixed('output', output) }
      put(LOYALTY_RUNS.columns.map(({ name }) => valueOf(flat[name])))
    }
  }
}

const NO_HEAD: Books['head'] = { seq: seqOf(0), atMs: null }

function prefixed(name: string, fields: object | null): BookRow {
  return Object.fromEntries(Object.entries(fields ?? {}).map(([field, value]) => [`${name}.${field}`, value]))
}

/** Value of a field of an answer as a column has it. */
export function valueOf(value: unknown): string | number | null {
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'string' || typeof value === 'number' ? value : null
}

function pairOf(ms: Ms | null): readonly [string | null, number | null] {
  return ms === null ? [null, null] : [formatAt(ms), ms]
}

function msOrNull(row: BookRow, name: string): Ms | null {
  const value = row[name]
  return typeof value === 'number' ? msOf(value) : null
}
