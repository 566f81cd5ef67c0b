import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type EventSketch, logOf, time } from '../../../test/story/story.ts'
import { payouts } from './payouts.ts'

const terms = { unlocksAt: time('2026-10-10'), reviewUntil: time('2026-10-12') }
const story: readonly EventSketch[] = [
  {
    at: '2026-10-01',
    is: 'contest/scheduled',
    contest: 2,
    details: { opensAt: time('2026-10-01'), closesAt: time('2026-10-02') },
  },
  { at: '2026-10-01', is: 'pool/sponsor', contest: 2, kots: '1000' },
  { at: '2026-10-03', is: 'prize/winner', contest: 2, kots: '10', details: terms },
]

suite('unpaid prizes', () => {
  test('are locked before they unlock, then in review before the hold ends, then payable', () => {
    const status = (now: string): string | undefined =>
      payouts(logOf(story).books(), {}, time(now)).unpaid[0]?.status
    assert.equal(status('2026-10-09T23:59Z'), 'locked')
    assert.equal(status('2026-10-10T00:00Z'), 'in_review')
    assert.equal(status('2026-10-11T23:59Z'), 'in_review')
    assert.equal(status('2026-10-12T00:00Z'), 'payable')
  })

  test('are computed and labelled with the present floored to the minute', () => {
    const answer = payouts(logOf(story).books(), {}, time('2026-10-12T00:00:59.999Z'))
    assert.deepEqual(answer.now, { at: '2026-10-12T00:00:00.000Z', atMs: time('2026-10-12') })
    const before = payouts(logOf(story).books(), {}, time('2026-10-11T23:59:59.999Z'))
    assert.equal(before.unpaid[0]?.status, 'in_review')
  })

  test('name no next page when the page holds all of them', () => {
    const { unpaid, next } = payouts(logOf(story).books(), { limit: 1 }, time('2026-10-12'))
    assert.deepEqual([unpaid.length, next], [1, null])
  })
})
