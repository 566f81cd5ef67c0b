import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { correcting, logOf, month, time } from '../../../test/story/story.ts'
import type { EventSketch } from '../../../test/story/story.ts'
import type { ContestLedger } from '../../protocol/resources.ts'
import { contestIdOf } from '../../protocol/seq.ts'
import { contestLedger } from './contest-ledger.ts'
import { contest, contests } from './contests.ts'
import type { Paging } from './paging.ts'
import { schedule } from './schedule.ts'

const plan = (opens: string, closes: string) => ({ opensAt: time(opens), closesAt: time(closes) })
const story: readonly EventSketch[] = [
  { at: '2026-10-01', is: 'contest/scheduled', contest: 9, details: plan('2026-10-02', '2026-10-03') },
  {
    at: '2026-10-01',
    is: 'contest/scheduled',
    contest: 4,
    details: { title: 'Four', ...plan('2026-10-02', '2026-10-04') },
  },
  { at: '2026-10-01', is: 'contest/scheduled', contest: 6, details: plan('2026-11-02', '2026-11-04') },
  { at: '2026-10-01', is: 'contest/scheduled', contest: 2, details: plan('2026-11-02', '2026-11-03') },
  { at: '2026-10-02', is: 'contest/opened', contest: 9 },
  { at: '2026-10-02', is: 'contest/opened', contest: 4 },
  { at: '2026-10-02', is: 'pool/top_up', contest: 9, kots: '100' },
  { at: '2026-10-02', is: 'pool/sponsor', contest: 9, kots: '5' },
  { at: '2026-10-02', is: 'correction/pool', details: correcting(8) },
  { at: '2026-10-03', is: 'contest/closed', contest: 9 },
  { at: '2026-10-03', is: 'prize/winner', contest: 9, kots: '50' },
  { at: '2026-10-03', is: 'prize/runner_up', contest: 9, kots: '20' },
  { at: '2026-10-03', is: 'payout/winner', contest: 9, kots: '30' },
  { at: '2026-10-03', is: 'payout/refund', contest: 9, kots: '1' },
  { at: '2026-10-03', is: 'expiry/runner_up', contest: 9, kots: '15' },
  { at: '2026-10-03', is: 'correction/payout', details: correcting(13) },
  {
    at: '2026-10-04',
    is: 'loyalty/scheduled',
    details: { month: month('2026-09'), paysAt: time('2026-10-05') },
  },
  {
    at: '2026-10-04',
    is: 'loyalty/scheduled',
    details: { month: month('2026-10'), paysAt: time('2026-11-05') },
  },
  { at: '2026-10-05', is: 'payout/loyalty', kots: '3', details: { month: month('2026-09') } },
]
const books = logOf(story).books()

function listed(
  query: Parameters<typeof contests>[1],
): readonly [ids: readonly number[], next: string | null] {
  const answer = contests(books, query)
  assert.ok(answer.ok)
  return [answer.value.contests.map(({ id }) => id), answer.value.next]
}

suite('the contests', () => {
  test('are listed newest first, in the order in which they were scheduled', () => {
    assert.deepEqual(listed({}), [[2, 6, 4, 9], null])
  })

  test('are filtered by status, where closed means paying and paid', () => {
    assert.deepEqual(listed({ status: ['upcoming', 'running'] }), [[2, 6, 4], null])
    assert.deepEqual(listed({ status: ['closed'] }), [[9], null])
    assert.deepEqual(listed({ status: ['paid'] }), [[], null])
  })

  test('link to the next page with every other parameter', () => {
    const status = ['upcoming', 'closed']
    assert.deepEqual(listed({ status, limit: 2 }), [
      [2, 6],
      '/api/v1/contests?status=upcoming,closed&after=6&limit=2',
    ])
    assert.deepEqual(listed({ status, after: 6, limit: 2 }), [[9], null])
  })

  test('are refused after a contest that does not exist', () => {
    const refused = contests(books, { after: 77 })
    assert.equal(!refused.ok && refused.problem.code, 'invalid-parameter')
  })

  test('are found by number, or refused', () => {
    const found = contest(books, contestIdOf(9))
    assert.ok(found.ok)
    const { status, pool, prizesOwed, prizesRedeemed, prizesNotRedeemed, closedAt, asOf } = found.value
    assert.deepEqual([asOf.seq, status, closedAt], [19, 'paying', '2026-10-03T00:00:00.000Z'])
    assert.deepEqual([pool, prizesOwed], ['100.000000000', '70.000000000'])
    assert.deepEqual([prizesRedeemed, prizesNotRedeemed], ['0.000000000', '55.000000000'])
    const refused = contest(books, contestIdOf(77))
    assert.equal(!refused.ok && refused.problem.code, 'contest-not-found')
  })
})

function ledger(query: Paging): ContestLedger {
  const answer = contestLedger(books, contestIdOf(9), query)
  assert.ok(answer.ok)
  return answer.value
}

suite('a contest ledger', () => {
  test('keeps kinds that a correction took back to zero', () => {
    assert.deepEqual(Object.entries(ledger({}).pool.in), [
      ['sponsor', '0.000000000'],
      ['top_up', '100.000000000'],
    ])
  })

  test('sorts outflows of the pool and prizes by kind', () => {
    const { pool, prizes } = ledger({})
    assert.deepEqual(Object.keys(pool.out), ['refund', 'runner_up', 'winner'])
    assert.equal(pool.balance, '29.000000000')
    assert.deepEqual(prizes, [
      {
        kind: 'runner_up',
        owed: '20.000000000',
        redeemed: '0.000000000',
        expired: '15.000000000',
        notRedeemed: '5.000000000',
      },
      {
        kind: 'winner',
        owed: '50.000000000',
        redeemed: '0.000000000',
        expired: '0.000000000',
        notRedeemed: '50.000000000',
      },
    ])
  })

  test('lists payouts, refunds and their corrections by seq, in pages', () => {
    assert.deepEqual(
      ledger({}).payouts.map(({ seq }) => seq),
      [13, 14, 16],
    )
    const first = ledger({ limit: 2 })
    assert.equal(first.next, '/api/v1/contests/9/ledger?after=14&limit=2')
    const second = ledger({ after: 14, limit: 2 })
    assert.deepEqual([second.payouts.map(({ seq }) => seq), second.next], [[16], null])
  })

  test('shows payouts with the bytes of their lines', () => {
    assert.equal(
      JSON.stringify(ledger({}).payouts[0]),
      '{"seq":13,"type":"payout","kind":"winner","at":"2026-10-03T00:00:00.000Z","atMs":1790985600000,"contestId":9,"kots":"30.000000000","tx":"tx-13"}',
    )
  })

  test('is refused for a contest that does not exist', () => {
    const refused = contestLedger(books, contestIdOf(77), {})
    assert.equal(!refused.ok && refused.problem.code, 'contest-not-found')
  })
})

suite('the schedule', () => {
  test('lists the opening of every upcoming contest, soonest first, then by number', () => {
    assert.deepEqual(
      schedule(books).opens.map(({ contestId }) => contestId),
      [2, 6],
    )
  })

  test('lists the closing of every upcoming or running contest, also in the past', () => {
    const { closes } = schedule(books)
    assert.deepEqual(
      closes.map(({ contestId, at }) => `${contestId} ${at.slice(0, 10)}`),
      ['4 2026-10-04', '2 2026-11-03', '6 2026-11-04'],
    )
    assert.deepEqual(
      closes.map(({ title }) => title),
      ['Four', null, null],
    )
  })

  test('names the earliest scheduled month without a loyalty payment', () => {
    assert.deepEqual(schedule(books).nextLoyaltyPayment, {
      month: '2026-10',
      at: '2026-11-05T00:00:00.000Z',
      atMs: time('2026-11-05'),
    })
    assert.equal(schedule(logOf([]).books()).nextLoyaltyPayment, null)
  })
})
