import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openMemoryLog } from '../../../test/story/memory-log.ts'
import { paidLog } from '../../../test/story/paid-log.ts'
import { randomLogs } from '../../../test/story/random-log.ts'
import type { Books } from '../../project/fold/books.ts'
import { summary } from '../../project/answers/summary.ts'
import type { Entry } from '../../protocol/event.ts'
import { msOf } from '../../protocol/moment.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { openEventColumns, openReplayBooks } from './replay-books.ts'
import { billionths } from '../../protocol/amount.ts'

const CONTEST = contestIdOf(1)

function booksOf(entries: readonly Entry[], moments: readonly number[] = []): Books {
  const books = openReplayBooks(moments.map(msOf))
  for (const entry of entries) books.add(entry)
  return books.books()
}

suite('the books of a log that is read once', () => {
  test('list the payouts of a contest after a seq, as many as are asked for', () => {
    const payments = [1, 2, 3, 4, 5].map((tokens) => ({ tx: `tx-${tokens}`, tokens }))
    const books = booksOf(paidLog(payments))
    const seqs = (after: number, limit: number): readonly number[] =>
      books.payoutLines(CONTEST, seqOf(after), limit).map((line) => (JSON.parse(line) as { seq: number }).seq)
    assert.deepEqual(seqs(0, 9), [7, 8, 9, 10, 11])
    assert.deepEqual(seqs(0, 2), [7, 8])
    assert.deepEqual(seqs(8, 2), [9, 10])
    assert.deepEqual(seqs(10, 2), [11])
    assert.deepEqual(seqs(11, 2), [])
    assert.deepEqual(books.payoutLines(contestIdOf(2), seqOf(0), 9), [])
  })

  test('list unpaid prizes after a seq, as many as are asked for', () => {
    fc.assert(
      fc.property(randomLogs, (entries) => {
        const books = booksOf(entries)
        const every = { contestIds: null, kinds: null }
        const all = books.unpaid({ ...every, after: 0, limit: 1_000 })
        const page = (after: number, limit: number) => books.unpaid({ ...every, after, limit })
        for (const [index, { first }] of all.entries()) {
          assert.deepEqual(page(first, 2), all.slice(index + 1, index + 3))
          assert.deepEqual(page(first - 1, 1), all.slice(index, index + 1))
        }
      }),
      { numRuns: 20 },
    )
  })

  test('give the same past summaries as another fold, at each named moment', () => {
    fc.assert(
      fc.property(randomLogs, fc.array(fc.nat(59)), (entries, picks) => {
        const moments = picks.flatMap((pick) => {
          const atMs = entries[pick]?.event.atMs ?? 0
          return [atMs, atMs + 1].map(msOf)
        })
        const log = openMemoryLog()
        for (const entry of entries) log.add(entry)
        const books = booksOf(
          entries,
          moments.map((at) => at + 1),
        )
        for (const at of moments) assert.deepEqual(summary(books, at), summary(log.books(), at), `at ${at}`)
      }),
      { numRuns: 40 },
    )
  })
})

/** Fields of an event that a correction needs. */
const asked = ({ event, details }: Entry): unknown => ({
  ...event,
  tx: null,
  count: details?.count,
  month: details?.month,
})

suite('the columns of events', () => {
  test('keep the fields that a correction needs, of any event', () => {
    fc.assert(
      fc.property(randomLogs, (entries) => {
        const columns = openEventColumns()
        for (const entry of entries) columns.add(entry)
        for (const entry of entries) {
          const kept = columns.entry(entry.event.seq)
          assert.ok(kept !== undefined)
          assert.deepEqual(asked(kept), asked(entry))
        }
        assert.equal(columns.entry(seqOf(entries.length + 1)), undefined)
        assert.equal(columns.entry(seqOf(0)), undefined)
      }),
    )
  })

  test('grow by slabs, and keep amounts of any size', () => {
    const columns = openEventColumns()
    const amountOf = (seq: number): bigint => (seq % 3 === 0 ? 10n ** 27n + BigInt(seq) : BigInt(-seq))
    const count = 70_000
    for (let seq = 1; seq <= count; seq++) {
      const event = {
        seq: seqOf(seq),
        type: 'trade',
        kind: 'buy',
        atMs: msOf(seq),
        contestId: null,
        kots: billionths(amountOf(seq)),
        tx: null,
      } as const
      columns.add({ event, details: null })
    }
    for (const seq of [1, 2, 3, 65_535, 65_536, 65_537, count]) {
      assert.equal(columns.entry(seqOf(seq))?.event.kots, amountOf(seq), `seq ${seq}`)
    }
  })
})
