import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { correcting, type EventSketch, logOf, month, time } from '../../../test/story/story.ts'
import type { Parsed } from '../../protocol/problem.ts'
import type { Books } from '../fold/books.ts'
import type { Contests } from '../../protocol/endpoints/contest-endpoints.ts'
import { answerContests, resolveContests } from './contests.ts'
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

type Query = Parameters<typeof resolveContests>[1]

function contests(of: Books, query: Query): Parsed<Contests> {
  const search = resolveContests(of, query)
  return search.ok ? answerContests(of, search.value) : search
}

const scheduled = (title: string): EventSketch => ({
  at: '2026-10-01',
  is: 'contest/scheduled',
  details: { title, ...plan('2026-10-02', '2026-10-03') },
})

function listed(query: Query): readonly [ids: readonly number[], next: string | null] {
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
    assert.equal(contests(books, { after: 1 }).ok, false)
  })

  test('begin with the newest after 0, as without a cursor', () => {
    assert.deepEqual(listed({ after: 0 }), listed({}))
    assert.equal(listed({ limit: 4 })[1], null, 'no page follows a full last one')
  })
})

suite('a search for contests', () => {
  const table: readonly (readonly [promise: string, query: Query, ids: readonly number[]])[] = [
    ['finds the titles with its words', { q: 'fou' }, [4]],
    ['finds the titles with its words in any order', { q: 'four', sort: 'closesAt' }, [4]],
    ['finds nothing when no title has its words', { q: 'our' }, []],
    ['finds only contests of its status', { q: 'four', status: ['upcoming'] }, []],
    ['sorts by the planned closing, soonest first', { sort: 'closesAt' }, [9, 4, 2, 6]],
    ['goes on after a contest in its order', { sort: 'closesAt', after: 4 }, [2, 6]],
    ['sorts by the pool, largest first, then newest first', { sort: 'pool' }, [9, 2, 6, 4]],
    ['sorts by the prizes that are not redeemed, likewise', { sort: 'prizesNotRedeemed' }, [9, 2, 6, 4]],
    ['may ask for at most a number of the largest', { sort: 'pool', limit: 2 }, [9, 2]],
  ]
  for (const [promise, query, ids] of table) {
    test(promise, () => assert.deepEqual(listed(query), [ids, null]))
  }

  test('links to its next page with its words and its order, unless that is the usual one', () => {
    assert.equal(listed({ sort: 'closesAt', limit: 2 })[1], '/api/v1/contests?sort=closesAt&after=4&limit=2')
    const cups = logOf([1, 2, 3].map((id) => ({ ...scheduled('A Cup'), contest: id }))).books()
    const page = (query: Query): string | null => {
      const answer = contests(cups, query)
      return answer.ok ? answer.value.next : answer.problem.code
    }
    assert.equal(page({ q: 'a cup', limit: 2 }), '/api/v1/contests?q=a%20cup&after=2&limit=2')
    assert.equal(page({ q: 'a cup', sort: 'newest', limit: 2 }), page({ q: 'a cup', limit: 2 }))
    assert.equal(page({ q: 'a cup', limit: 3 }), null)
  })

  test('has the largest 100 on one page', () => {
    const many = Array.from({ length: 101 }, (_, index) => ({ ...scheduled('A Cup'), contest: index + 1 }))
    const found = contests(logOf(many).books(), { sort: 'pool' })
    assert.ok(found.ok)
    assert.deepEqual([found.value.contests.length, found.value.next], [100, null])
  })

  const refusals: readonly (readonly [promise: string, query: Query, parameter: string])[] = [
    ['without a word', { q: ' - ' }, 'q'],
    ['for the page after the largest', { sort: 'pool', after: 4 }, 'after'],
    ['for more than 100 of the largest', { sort: 'prizesNotRedeemed', limit: 101 }, 'limit'],
  ]
  for (const [promise, query, parameter] of refusals) {
    test(`is refused ${promise}, with the name of the parameter`, () => {
      const answer = contests(books, query)
      assert.ok(!answer.ok)
      const [fault] = answer.problem.errors ?? []
      assert.equal(fault?.parameter, parameter)
      assert.ok(fault?.message.startsWith(`\`${parameter}\` `))
    })
  }

  test('may ask for 100 of the largest, and for more in another order', () => {
    assert.ok(contests(books, { sort: 'pool', limit: 100 }).ok)
    assert.ok(contests(books, { sort: 'closesAt', limit: 101 }).ok)
  })
})

test('the schedule lists openings soonest first, then by number', () => {
  const { opens } = schedule(books)
  assert.deepEqual(
    opens.map(({ contestId }) => contestId),
    [2, 6],
  )
})
