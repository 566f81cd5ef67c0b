import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { correcting, type EventSketch, logOf, time } from '../../../test/story/story.ts'
import { payouts } from './payouts.ts'

const terms = { unlocksAt: time('2026-10-10'), reviewUntil: time('2026-10-12') }
const closed = (contest: number): readonly EventSketch[] => [
  {
    at: '2026-10-01',
    is: 'contest/scheduled',
    contest,
    details: { opensAt: time('2026-10-01'), closesAt: time('2026-10-02') },
  },
  { at: '2026-10-01', is: 'pool/sponsor', contest, kots: '1000' },
]
const story: readonly EventSketch[] = [
  ...closed(1),
  ...closed(2),
  { at: '2026-10-03', is: 'prize/winner', contest: 2, kots: '10', details: terms },
  { at: '2026-10-03', is: 'prize/voter_share', contest: 1, kots: '7', details: { claim: true } },
  { at: '2026-10-04', is: 'prize/winner', contest: 2, kots: '5', details: terms },
  { at: '2026-10-04', is: 'prize/winner', contest: 1, kots: '3' },
  { at: '2026-10-04', is: 'prize/winner', contest: 1, kots: '2' },
  { at: '2026-10-05', is: 'prize/winner', contest: 1, kots: '1' },
]

function rows(told: readonly EventSketch[], now: string): readonly string[] {
  return payouts(logOf(told).books(), {}, time(now)).unpaid.map(
    ({ contestId, kind, kots, status, availableAt }) =>
      `${contestId} ${kind} ${kots.replace('.000000000', '')} ${status} ${availableAt.slice(0, 10)}`,
  )
}

suite('unpaid prizes', () => {
  test('have a row for each contest, kind and terms, in the order of its first prize', () => {
    assert.deepEqual(rows(story, '2026-10-06'), [
      '2 winner 15 locked 2026-10-12',
      '1 voter_share 7 awaiting_claim 2026-10-03',
      // A prize without unlock or hold is available at its own moment.
      '1 winner 5 payable 2026-10-04',
      '1 winner 1 payable 2026-10-05',
    ])
  })

  test('are locked before they unlock, then in review before the hold ends, then payable', () => {
    const status = (now: string): string | undefined => rows(story, now)[0]?.split(' ')[3]
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

  test('disappear when they are paid', () => {
    const paid: EventSketch = { at: '2026-10-06', is: 'payout/winner', contest: 1, kots: '5' }
    assert.deepEqual(rows([...story, paid], '2026-10-06').slice(2), ['1 winner 1 payable 2026-10-05'])
  })

  test('are overpaid when more was paid than was won', () => {
    const told: readonly EventSketch[] = [
      ...closed(1),
      { at: '2026-10-03', is: 'prize/winner', contest: 1, kots: '10' },
      { at: '2026-10-04', is: 'payout/winner', contest: 1, kots: '4' },
      { at: '2026-10-05', is: 'correction/prize', details: correcting(3) },
    ]
    assert.deepEqual(rows(told, '2026-10-06'), ['1 winner -4 overpaid 2026-10-03'])
    assert.equal(payouts(logOf(told).books(), {}, time('2026-10-06')).totals.overpaid, '-4.000000000')
  })

  test('are summed by status over all pages', () => {
    const answer = payouts(logOf(story).books(), { limit: 1 }, time('2026-10-06'))
    assert.equal(answer.unpaid.length, 1)
    assert.deepEqual(answer.totals, {
      locked: '15.000000000',
      in_review: '0.000000000',
      awaiting_claim: '7.000000000',
      payable: '6.000000000',
      overpaid: '0.000000000',
    })
  })

  test('are paged by the seq of the first prize of a row', () => {
    const books = logOf(story).books()
    const seen: string[] = []
    let after = 0
    for (;;) {
      const page = payouts(books, { contestId: 1, after, limit: 2 }, time('2026-10-06'))
      seen.push(...page.unpaid.map(({ kind, kots }) => `${kind} ${kots}`))
      if (page.next === null) break
      assert.equal(page.next, '/api/v1/payouts?contestId=1&after=8&limit=2')
      after = 8
    }
    assert.deepEqual(seen, ['voter_share 7.000000000', 'winner 5.000000000', 'winner 1.000000000'])
  })

  test('are an empty list for a contest without any', () => {
    const answer = payouts(logOf(story).books(), { contestId: 77 }, time('2026-10-06'))
    assert.deepEqual([answer.unpaid, answer.next], [[], null])
  })
})
