import type { DatabaseSync } from 'node:sqlite'
import type { Correction, Head } from '../../project/fold/books.ts'
import type { ContestState, Hold, Lot } from '../../project/fold/contest.ts'
import type { Changes, Repository, StandingPrice } from '../../project/fold/fold.ts'
import type { ContestMove } from '../../project/fold/ledger.ts'
import type { LoyaltyState } from '../../project/fold/loyalty.ts'
import type { ReplayRepository } from '../../project/fold/prefix.ts'
import { formatPrice, parsePrice, type Price, ZERO } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { type Details, parseDetails } from '../../protocol/details.ts'
import { type Entry, parseEvent } from '../../protocol/event.ts'
import { CONTEST_STATUSES, type ContestStatus } from '../../protocol/enumerations.ts'
import { msOf } from '../../protocol/moment.ts'
import { type ContestId, type Seq, seqOf } from '../../protocol/seq.ts'
import { formatLoyalty, LOT_COLUMNS, lotOfRow, number, parseLoyalty, type Row, text } from '../store/codec.ts'
import { contestOfRow } from './contest-rows.ts'
import { type ContestCache, openContestCache } from './contest-cache.ts'
import { type BlockEnd, openContestList } from './contest-list.ts'
import { openTakesReader, type StoredTakes } from './stored-takes.ts'
import { openUnpaidWriter } from './unpaid-rows.ts'

/** Tables of the books. The writer's fold reads them, and the fold's changes are written to them. */
type StoredRepository = Readonly<{
  repository: Repository
  /**
   * Writes the changes of a batch that ends with `head`, in the caller's transaction. `blockEnd` has the contests that
   * the batch had changed by its last end of a block in the list.
   */
  put(changes: Changes, head: Head, blockEnd: BlockEnd | null): void
  /** Writes the contests and their list, which `put` only caches. Must be called before the commit. */
  flush(): void
  /** Empties the caches, after a rollback. */
  forget(): void
}>

/** Gives a function that reads one entry of the log. */
function entryReader(db: DatabaseSync): (seq: Seq) => Entry | undefined {
  const select = db.prepare(
    'SELECT e.line AS line, d.line AS details FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq = ?',
  )
  return (seq) => {
    const row = select.get(seq)
    return row === undefined ? undefined : entryOfRow(row)
  }
}

/** Entry of a row with its line and its details line (null without details). */
export function entryOfRow(row: Row): Entry {
  const line = row['details']
  const details: Details | null = typeof line === 'string' ? parseDetails(detailsJson(line)) : null
  return { event: parseEvent(text(row, 'line')), details }
}

/** The JSON object inside a details line. */
function detailsJson(line: string): string {
  return line.slice(line.indexOf(',"details":') + ',"details":'.length, -1)
}

/** Opens the look-ups with which a reader replays the few events after a row of prefix totals. */
export function openStoredReplay(db: DatabaseSync): ReplayRepository {
  const move = db.prepare('SELECT from_status, to_status FROM moves WHERE seq = ?')
  const price = db.prepare(
    'SELECT price FROM prices WHERE seq = ?1 UNION ALL SELECT price FROM standing WHERE seq = ?1',
  )
  return {
    entry: entryReader(db),
    move(seq): ContestMove | undefined {
      const row = move.get(seq)
      if (row === undefined) return undefined
      return { from: statusOf(row['from_status']), to: statusOf(row['to_status']) ?? 'upcoming' }
    },
    standingPrice: (seq) => priceOf(price.get(seq)?.['price']),
  }
}

export function openStoredRepository(db: DatabaseSync): StoredRepository {
  const contests = openContestCache(db)
  const unpaid = openUnpaidWriter(db)
  const write = changesWriter(db)
  const takes = openTakesReader(db)
  const prizeKinds = openPrizeKinds(db)
  const repository = storeRepository(db, contests.get, takes, prizeKinds.get)
  const list = openContestList(db, repository.contest)
  return {
    repository,
    put(changes, { seq, atMs }, blockEnd) {
      for (const changed of changes.contests.values()) contests.put(changed)
      list.put(changes.contests, blockEnd, seq)
      if (atMs !== null) unpaid.write(changes, atMs)
      write(changes)
      takes.forget()
      if (changes.prizeKinds.size > 0) prizeKinds.forget()
    },
    flush() {
      contests.flush()
      list.flush()
    },
    forget() {
      contests.forget()
      list.reload()
      unpaid.forget()
      takes.forget()
      prizeKinds.forget()
    },
  }
}

/** Opens the kinds of prize in the store, which are read again after `forget`. */
function openPrizeKinds(db: DatabaseSync): Readonly<{ get: Repository['prizeKinds']; forget(): void }> {
  const select = db.prepare("SELECT kind FROM kinds WHERE type = 'prize'")
  let known: ReadonlySet<string> | undefined
  return {
    get: () => (known ??= new Set(select.all().map((row) => text(row, 'kind')))),
    forget: () => void (known = undefined),
  }
}

/** Look-up of stored contests, as rows and as states. */
export type StoredContests = Readonly<{
  rowOf(id: ContestId): Row | undefined
  contestOf(id: ContestId): ContestState | undefined
}>

/** Opens the look-up of stored contests. */
export function openContests(db: DatabaseSync): StoredContests {
  const contest = db.prepare('SELECT * FROM contests WHERE id = ?')
  return {
    rowOf: (id) => contest.get(id),
    contestOf(id) {
      const row = contest.get(id)
      return row === undefined ? undefined : contestOfRow(row)
    },
  }
}

/** Opens the look-up of the correction of an event, and of the event that replaces it. */
export function openCorrections(db: DatabaseSync): (seq: Seq) => Correction | undefined {
  const correction = db.prepare('SELECT correction, restatement FROM corrections WHERE seq = ?')
  return (seq) => {
    const row = correction.get(seq)
    if (row === undefined) return undefined
    const restatement = row['restatement'] === null ? null : seqOf(number(row, 'restatement'))
    return { by: seqOf(number(row, 'correction')), restatement }
  }
}

function storeRepository(
  db: DatabaseSync,
  cached: ContestCache['get'],
  takes: StoredTakes,
  prizeKinds: Repository['prizeKinds'],
): Repository {
  const correctionOf = openCorrections(db)
  const { contestOf } = openContests(db)
  const openLots = db.prepare(
    `SELECT ${LOT_COLUMNS} FROM lots WHERE contest = ? AND kind = ? AND open IS NOT NULL`,
  )
  const hold = db.prepare('SELECT seq, review_until FROM holds WHERE contest = ? AND kind = ?')
  const lot = db.prepare(`SELECT ${LOT_COLUMNS} FROM lots WHERE seq = ?`)
  const loyalty = db.prepare('SELECT body FROM loyalty WHERE month = ?')
  const price = db.prepare(
    'SELECT seq, price FROM prices WHERE seq < ? AND cancelled = 0 ORDER BY seq DESC LIMIT 1',
  )
  return {
    entry: entryReader(db),
    correctionOf: (seq) => correctionOf(seq)?.by,
    restatementOf: (seq) => correctionOf(seq)?.restatement ?? undefined,
    contest: (id) => cached(id) ?? contestOf(id),
    openLots: (contestId, kind): Lot[] => openLots.all(contestId, kind).map(lotOfRow),
    hold(contestId, kind): Hold | undefined {
      const row = hold.get(contestId, kind)
      if (row === undefined) return undefined
      const reviewUntil = msOf(number(row, 'review_until'))
      return { contestId, kind, seq: seqOf(number(row, 'seq')), reviewUntil }
    },
    lot(seq): Lot | undefined {
      const row = lot.get(seq)
      return row === undefined ? undefined : lotOfRow(row)
    },
    take: takes.take,
    takesBy: takes.takesBy,
    takesFrom: takes.takesFrom,
    loyalty(month): LoyaltyState | undefined {
      const row = loyalty.get(month)
      return row === undefined ? undefined : parseLoyalty(text(row, 'body'))
    },
    prizeKinds,
    priceBefore(seq): StandingPrice | undefined {
      const row = price.get(seq)
      const value = priceOf(row?.['price'])
      return row === undefined || value === undefined
        ? undefined
        : { seq: seqOf(number(row, 'seq')), price: value }
    },
  }
}

/** Opens the writer of a batch's changes, except its contests and lots. */
function changesWriter(db: DatabaseSync): (changes: Changes) => void {
  const take = db.prepare('INSERT OR REPLACE INTO takes (contest, seq, lot, amount) VALUES (?, ?, ?, ?)')
  const untake = db.prepare('DELETE FROM takes WHERE contest = ? AND seq = ? AND lot = ?')
  const payout = db.prepare(
    'INSERT OR REPLACE INTO prize_payouts (contest, kind, seq, at) VALUES (?, ?, ?, ?)',
  )
  const unpayout = db.prepare('DELETE FROM prize_payouts WHERE contest = ? AND kind = ? AND seq = ?')
  const loyalty = db.prepare('INSERT OR REPLACE INTO loyalty (month, body) VALUES (?, ?)')
  const correction = db.prepare('INSERT INTO corrections (seq, correction) VALUES (?, ?)')
  const price = db.prepare('INSERT INTO prices (seq, price, cancelled) VALUES (?, ?, 0)')
  const restatement = db.prepare('UPDATE corrections SET restatement = ? WHERE seq = ?')
  const cancel = db.prepare('UPDATE prices SET cancelled = 1 WHERE seq = ?')
  const standing = db.prepare('INSERT INTO standing (seq, price) VALUES (?, ?)')
  const move = db.prepare('INSERT INTO moves (seq, from_status, to_status) VALUES (?, ?, ?)')
  return (changes) => {
    for (const byLot of changes.takes.values()) {
      for (const { seq, lot: from, amount } of byLot.values()) {
        const contest = changes.lots.get(from)?.contestId
        assert(contest !== undefined, `event ${seq} takes from lot ${from}, which it changes`)
        if (amount === ZERO) untake.run(contest, seq, from)
        else take.run(contest, seq, from, String(amount))
      }
    }
    for (const [seq, { contestId, kind, atMs, stands }] of changes.prizePayouts) {
      if (stands) payout.run(contestId, kind, seq, atMs)
      else unpayout.run(contestId, kind, seq)
    }
    for (const [month, state] of changes.loyalty) loyalty.run(month, formatLoyalty(state))
    for (const [seq, value] of changes.prices) price.run(seq, formatPrice(value))
    for (const [seq, by] of changes.corrections) {
      correction.run(seq, by)
      cancel.run(seq)
    }
    // After the corrections: one batch may hold both.
    for (const [seq, by] of changes.restatements) restatement.run(by, seq)
    for (const [seq, value] of changes.standing) {
      if (!changes.prices.has(seq)) standing.run(seq, value === undefined ? null : formatPrice(value))
    }
    for (const [seq, { from, to }] of changes.moves) move.run(seq, from ?? null, to)
  }
}

function priceOf(stored: unknown): Price | undefined {
  if (typeof stored !== 'string') return undefined
  const price = parsePrice(stored)
  assert(price !== undefined, 'a stored price has twelve decimals')
  return price
}

function statusOf(stored: unknown): ContestStatus | undefined {
  return CONTEST_STATUSES.find((status) => status === stored)
}
