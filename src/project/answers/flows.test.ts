import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { correcting, type EventSketch, logOf, priced, time } from '../../../test/story/story.ts'
import { flows } from './flows.ts'
import { funds } from './funds.ts'

const story: readonly EventSketch[] = [
  {
    at: '2026-10-01T05:00Z',
    is: 'contest/scheduled',
    contest: 1,
    details: { opensAt: time('2026-10-01'), closesAt: time('2026-10-09') },
  },
  { at: '2026-10-01T05:00Z', is: 'treasury/deposit', kots: '100' },
  { at: '2026-10-02T00:00Z', is: 'play/entry', contest: 1, kots: '10' },
  { at: '2026-10-02T23:59:59.999Z', is: 'price/usd', details: priced('2') },
  { at: '2026-10-04T00:00Z', is: 'burn/platform_income', kots: '6' },
  { at: '2026-10-04T12:00Z', is: 'correction/play', details: correcting(3) },
]
const books = logOf(story).books()
const days = { fromMs: time('2026-10-01'), toMs: time('2026-10-06'), bucket: 'day', nowMs: null } as const

suite('flows', () => {
  test('have every bucket of the range, with zero flows and the last price when it is empty', () => {
    const rows = flows(books, days).buckets.map(
      ({ at, spentOnPlay, burned, tokenPriceUsd }) =>
        `${at.slice(8, 10)} ${spentOnPlay} ${burned} ${tokenPriceUsd}`,
    )
    assert.deepEqual(rows, [
      '01 0.000000000 0.000000000 null',
      '02 10.000000000 0.000000000 2.000000000000',
      '03 0.000000000 0.000000000 2.000000000000',
      '04 -10.000000000 6.000000000 2.000000000000',
      '05 0.000000000 0.000000000 2.000000000000',
    ])
  })

  test('add up to their totals', () => {
    const { totals } = flows(books, days)
    assert.deepEqual(totals, {
      spentOnPlay: '0.000000000',
      paidInPrizes: '0.000000000',
      burned: '6.000000000',
    })
  })

  test('mark a bucket as complete once an event at or after its end is published', () => {
    assert.deepEqual(
      flows(books, days).buckets.map(({ complete }) => complete),
      [true, true, true, false, false],
    )
  })

  test('count only events before the end of the range', () => {
    const settled = { ...days, toMs: time('2026-10-03') }
    assert.equal(flows(books, settled).asOf.seq, 4)
    assert.deepEqual(flows(logOf(story.slice(0, 5)).books(), settled), flows(books, settled))
  })
})

suite('funds', () => {
  test('have the balances at the end of each bucket, and now', () => {
    const answer = funds(books, days)
    assert.deepEqual(
      answer.buckets.map(({ treasury }) => treasury),
      ['100.000000000', '110.000000000', '110.000000000', '94.000000000', '94.000000000'],
    )
    assert.equal(answer.now.treasury, '94.000000000')
    assert.equal(answer.asOf.seq, 6)
  })
})
