import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import * as fc from 'fast-check'
import { computeAnswer, openMemoryLog } from '../../../test/story/memory-log.ts'
import { randomLogs } from '../../../test/story/random-log.ts'
import type { Books } from '../../project/fold/books.ts'
import { totalsOfRows, type UnpaidTotals } from '../../project/fold/unpaid.ts'
import { add, billionths, formatAmount, parseAmount, ZERO } from '../../protocol/amount.ts'
import { recordOf } from '../../protocol/brand.ts'
import { type Details, formatDetailsLine, parseDetails } from '../../protocol/details.ts'
import { UNPAID_STATUSES } from '../../protocol/enumerations.ts'
import { type Entry, formatEvent, parseEvent } from '../../protocol/event.ts'
import { boundOf, DAY_MS, floorTo, formatAt, HOUR_MS, type Ms } from '../../protocol/moment.ts'
import type { EventType } from '../../protocol/rules.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { openBook } from './book-file.ts'
import { checkedEntries, type BookEntry } from './book-rows.ts'
import { openBookWriter } from './book-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'daybook-book-'))
after(() => rmSync(folder, { recursive: true }))
let books = 0

const entryOf = ({ event, details }: Entry): BookEntry => ({
  event,
  details,
  line: formatEvent(event),
  detailsLine: details === null ? null : formatDetailsLine(event.seq, details),
})

/** A book of these entries, written in runs that end at `cuts`. */
function bookOf(entries: readonly Entry[], cuts: readonly number[]): DatabaseSync & Disposable {
  books += 1
  const book = openBook(join(folder, `${books}.sqlite`))
  const ends = [...new Set([...cuts, entries.length])].toSorted((a, b) => a - b)
  for (const [index, end] of ends.entries()) {
    const writer = openBookWriter(book.db)
    for (const entry of entries.slice(ends[index - 1] ?? 0, end)) writer.add(entryOf(entry))
    writer.settle()
    book.commit()
  }
  return book.db
}

/** Rows of a query as plain objects. */
function rows(db: DatabaseSync, sql: string): readonly Record<string, unknown>[] {
  return db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }))
}

function answer<Id extends Parameters<typeof computeAnswer>[1]>(
  log: Books,
  id: Id,
  query = '',
  contest = '',
) {
  const found = computeAnswer(log, id, { query, segments: { id: contest } })
  assert.ok(found.ok)
  return found.value
}

/** Rows of an answer as columns: 1 and 0 for a boolean, and only plain fields. */
function plain(list: readonly object[]): readonly Record<string, unknown>[] {
  return list.map((one) =>
    Object.fromEntries(
      Object.entries(one)
        .filter(([, value]) => value === null || typeof value !== 'object')
        .map(([name, value]) => [name, typeof value === 'boolean' ? Number(value) : value]),
    ),
  )
}

/** The rows without columns that the API does not have. */
function without(list: readonly Record<string, unknown>[], ...names: readonly string[]): readonly object[] {
  return list.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name))))
}

const formatted = (totals: UnpaidTotals): unknown =>
  recordOf(UNPAID_STATUSES, (status) => formatAmount(totals[status]))
const EVERY = { contestIds: null, kinds: null, after: 0, limit: 1_000 }
const unpaidAt = (log: Books, at: Ms): unknown => formatted(totalsOfRows(log.unpaid(EVERY), at))

/** Figures of `/summary`, and the rows whose amounts add up to each. */
const SUMS = [
  ['spentOnPlay', "counted WHERE type = 'play'"],
  ['burned', "counted WHERE type = 'burn'"],
  ['expired', "counted WHERE type = 'expiry'"],
  ['paidInPrizes', "payments WHERE kind NOT IN ('refund', 'loyalty')"],
  ['paidInLoyalty', "payments WHERE kind = 'loyalty'"],
  ['refunded', "payments WHERE kind = 'refund'"],
] as const

/** Exact sum by the expression that the book advises; null when SQLite refuses it as too large. */
function exactSum(db: DatabaseSync, source: string): unknown {
  const advice = rows(db, "SELECT sql FROM sqlite_schema WHERE name = 'counted'")[0]?.['sql']
  const expression = /printf\(.*\)/.exec(String(advice))?.[0]
  try {
    return rows(db, `SELECT ${expression} AS sum FROM ${source}`)[0]?.['sum']
  } catch (error) {
    assert.match(String(error), /integer overflow/)
    return null
  }
}

suite('a book', () => {
  test('has the contests, prizes, movements and balances of the API, whichever runs wrote it', () => {
    fc.assert(
      fc.property(randomLogs, fc.array(fc.nat(60), { maxLength: 3 }), (entries, picks) => {
        const log = openMemoryLog()
        const unpaidByDay: unknown[] = []
        let day: Ms | null = null
        for (const entry of entries) {
          const next = floorTo(entry.event.atMs, DAY_MS)
          for (; day !== null && day < next; day = boundOf(day + DAY_MS))
            unpaidByDay.push(unpaidAt(log.books(), boundOf(day + DAY_MS - 1)))
          day = next
          log.add(entry)
        }
        const now = log.books()
        const { head, firstAtMs } = now
        const db = bookOf(
          entries,
          picks.filter((pick) => pick < entries.length),
        )
        const { contests } = answer(now, 'contests')
        assert.deepEqual(
          without(rows(db, 'SELECT * FROM contests ORDER BY scheduledSeq DESC'), 'scheduledSeq', 'lastSeq'),
          plain(contests),
        )
        for (const { id } of contests) {
          const ledger = answer(now, 'contestLedger', '', String(id))
          assert.deepEqual(
            rows(
              db,
              `SELECT kind, owed, redeemed, expired, notRedeemed FROM contest_prizes WHERE contestId = ${id} ORDER BY kind`,
            ),
            ledger.prizes,
          )
          for (const direction of ['in', 'out'] as const) {
            const pool = rows(
              db,
              `SELECT kind, kots FROM contest_pools WHERE contestId = ${id} AND direction = '${direction}'`,
            )
            assert.deepEqual(
              Object.fromEntries(pool.map(({ kind, kots }) => [kind, kots])),
              ledger.pool[direction],
            )
          }
        }
        assert.deepEqual([...checkedEntries(db)], entries.map(entryOf))
        const summary = answer(now, 'summary')
        for (const [figure, source] of SUMS) {
          const sum = exactSum(db, source)
          if (sum !== null) assert.equal(sum, summary[figure], figure)
        }
        if (head.atMs === null || firstAtMs === null) return
        const unpaid = rows(db, 'SELECT status, kots FROM unpaid')
        const byStatus = recordOf(UNPAID_STATUSES, (status) =>
          unpaid
            .filter((row) => row['status'] === status)
            .reduce((sum, { kots }) => add(sum, parseAmount(String(kots)) ?? ZERO), ZERO),
        )
        assert.deepEqual(formatted(byStatus), unpaidAt(now, head.atMs))
        const range = `from=${formatAt(floorTo(firstAtMs, DAY_MS))}&to=${formatAt(boundOf(floorTo(head.atMs, DAY_MS) + DAY_MS))}`
        const days = answer(now, 'flows', `${range}&bucket=day`).buckets
        assert.deepEqual(rows(db, 'SELECT * FROM flows_by_day ORDER BY atMs'), plain(days))
        const months = answer(now, 'flows', `${range}&bucket=month&by=kind`).buckets
        assert.deepEqual(rows(db, 'SELECT * FROM flows_by_month ORDER BY atMs'), plain(months))
        assert.deepEqual(
          rows(
            db,
            "SELECT atMs, kind, kots FROM kinds_by_month WHERE figure = 'paidInPrizes' ORDER BY atMs, kind",
          ),
          months.flatMap(({ atMs, paidByKind = {} }) =>
            Object.entries(paidByKind)
              .filter(([, kots]) => kots !== '0.000000000')
              .map(([kind, kots]) => ({ atMs, kind, kots })),
          ),
        )
        const funds = answer(now, 'funds', `${range}&bucket=day`).buckets
        assert.deepEqual(rows(db, 'SELECT * FROM funds_by_day ORDER BY atMs'), plain(funds))
        assert.deepEqual(
          rows(
            db,
            'SELECT locked, in_review, awaiting_claim, payable, overpaid FROM unpaid_by_day ORDER BY atMs',
          ),
          [...unpaidByDay, unpaidAt(now, head.atMs)],
        )
        assert.deepEqual(
          rows(db, 'SELECT prizesNotRedeemed FROM unpaid_by_day ORDER BY atMs'),
          funds.map(({ prizesNotRedeemed }) => ({ prizesNotRedeemed })),
        )
        assert.deepEqual(
          rows(
            db,
            'SELECT month, total, paid, "output.digest" AS digest FROM loyalty_runs ORDER BY month DESC',
          ),
          answer(now, 'loyaltyRuns').runs.map(({ month, total, paid, output }) => ({
            month,
            total,
            paid,
            digest: output?.digest ?? null,
          })),
        )
      }),
      { numRuns: 25 },
    )
  })

  test('gives back the exact line of details with members that this program does not know', () => {
    const event = parseEvent(
      '{"seq":1,"type":"price","kind":"usd","at":"2026-10-01T00:00:00.000Z","atMs":1790812800000,"contestId":null,"kots":null,"tx":null}',
    )
    const json = '{"from":"an exchange","price":"0.100000000000"}'
    const detailsLine = `{"seq":1,"details":${json}}`
    const details = parseDetails(json)
    const book = openBook(join(folder, 'newer.sqlite'))
    openBookWriter(book.db).add({ event, details, line: formatEvent(event), detailsLine })
    assert.deepEqual(
      [...checkedEntries(book.db)],
      [{ event, details, line: formatEvent(event), detailsLine }],
    )
    assert.deepEqual(rows(book.db, 'SELECT price, json FROM details'), [{ price: '0.100000000000', json }])
    book[Symbol.dispose]()
  })

  test('has no amount that a later run corrects in the same month, and no prize unlocked before its midnight', () => {
    const day = boundOf(Date.UTC(2026, 9, 1))
    const one = (
      seq: number,
      type: EventType,
      kind: string,
      kots: bigint,
      hours: number,
      details: Details | null,
    ) => ({
      event: {
        seq: seqOf(seq),
        type,
        kind,
        atMs: boundOf(day + hours * HOUR_MS),
        contestId: type === 'prize' ? contestIdOf(1) : null,
        kots: billionths(kots),
        tx: null,
      },
      details,
    })
    const entries = [
      one(1, 'burn', 'platform_income', 5n, 1, null),
      one(2, 'prize', 'winner', 3n, 2, { unlocksAt: boundOf(day + DAY_MS) }),
      one(3, 'correction', 'burn', -5n, 3, { corrects: seqOf(1) }),
      one(4, 'treasury', 'deposit', 1n, 25, null),
    ]
    const db = bookOf(entries, [2])
    assert.deepEqual(rows(db, 'SELECT * FROM kinds_by_month'), [])
    assert.deepEqual(rows(db, 'SELECT locked, payable FROM unpaid_by_day ORDER BY atMs'), [
      { locked: '0.000000003', payable: '0.000000000' },
      { locked: '0.000000000', payable: '0.000000003' },
    ])
  })
})
