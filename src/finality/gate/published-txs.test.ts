import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { randomLogs } from '../../../test/story/random-log.ts'
import { openDirectory, write, writerSteps } from '../../../test/story/store-run.ts'
import { billionths, ZERO } from '../../protocol/amount.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { Entry } from '../../protocol/event.ts'
import { msOf } from '../../protocol/moment.ts'
import { contestIdOf } from '../../protocol/seq.ts'
import { openPublishedTxs } from './published-txs.ts'
import { openForReading, storePath } from '../../log/store/store.ts'

/** The second is the end of the first, and no event names the last. */
const TXS = ['pay:transaction-1', 'transaction-1', 'nobody-paid'] as const

/** Facts of a payment, and drafts that differ from an event in none of them, or in one. */
const FACTS = ['tx', 'type', 'kind', 'contestId', 'kots'] as const
const CHANGES: readonly Partial<Draft>[] = [
  {},
  { tx: TXS[2] },
  { type: 'burn' },
  { kind: 'another' },
  { contestId: contestIdOf(77) },
  { kots: billionths(77n) },
]

/** Random logs in which several events of any type name the same transaction. */
const logs = fc
  .tuple(randomLogs, fc.infiniteStream(fc.constantFrom(null, TXS[0], TXS[1])))
  .map(([entries, named]): readonly Entry[] =>
    entries.map(({ event, details }) => ({ event: { ...event, tx: named.next().value ?? null }, details })),
  )

suite('the transactions of published events', () => {
  test('are found page by page, without corrected events, their payouts are added up, and a payment is known by all its facts', () => {
    fc.assert(
      fc.property(logs, writerSteps, fc.integer({ min: 1, max: 5 }), (entries, steps, max) => {
        using directory = openDirectory()
        for (const _ of write(directory.path, entries, steps, 'durable')) continue
        const db = openForReading(storePath(directory.path))
        const published = openPublishedTxs(db)
        const corrected = new Set(entries.map(({ details }) => details?.corrects))
        const standing = entries.map(({ event }) => event).filter(({ seq }) => !corrected.has(seq))

        const found: string[] = []
        for (let after: number | null = 0; after !== null;) {
          const { events, scannedTo } = published.after(after, max)
          assert.ok(events.length <= max && (scannedTo === null || scannedTo > after))
          found.push(...events.map(({ seq, tx, vouched }) => `${seq} ${tx} ${vouched}`))
          after = scannedTo
        }
        assert.deepEqual(
          found,
          standing.flatMap(({ seq, tx }) => (tx === null ? [] : [`${seq} ${tx} false`])),
        )
        for (const tx of TXS) {
          const paid = standing
            .filter((event) => event.type === 'payout' && event.tx === tx)
            .reduce((sum, { kots }) => sum + (kots ?? ZERO), 0n)
          assert.equal(published.paidIn(tx), paid)
        }
        for (const { event } of entries) {
          const blank = { ref: null, atMs: null, details: null }
          for (const change of CHANGES) {
            const draft: Draft = { ...blank, ...event, ...change }
            const isPaid = standing.some((one) => FACTS.every((name) => one[name] === draft[name]))
            assert.equal(published.hasPayment(draft), draft.tx !== null && isPaid)
          }
          for (const moment of [event.atMs, event.atMs + 1]) {
            const before = entries.filter(({ event: { atMs } }) => atMs < moment).length
            assert.equal(published.seqBefore(msOf(moment)), before)
          }
        }
        db.close()
      }),
      { numRuns: Number(process.env['DAYBOOK_CAMPAIGN'] ?? 6) },
    )
  })

  test('are read by keys, so a page costs what it looks at', () => {
    using directory = openDirectory()
    const db = openForReading(storePath(directory.path))
    const prepare = db.prepare.bind(db)
    const plans: string[] = []
    db.prepare = (sql: string) => {
      const steps = prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
      plans.push(...steps.map(({ detail }) => String(detail)))
      return prepare(sql)
    }
    openPublishedTxs(db)
    assert.ok(plans.length > 5, 'the plans are seen')
    assert.deepEqual(
      plans.filter((step) => step.startsWith('SCAN') && step !== 'SCAN CONSTANT ROW'),
      [],
    )
    db.close()
  })
})
