import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { correcting, type EventSketch, logOf, time } from '../../../test/story/story.ts'
import { computeAnswer } from '../../../test/story/memory-log.ts'
import type { Waits } from '../../protocol/endpoints/figure-endpoints.ts'
import { HOUR_MS } from '../../protocol/moment.ts'
import { WAIT_CONTESTS_MAX } from '../../protocol/parameters.ts'
import type { Books } from '../fold/books.ts'

const planned = { opensAt: time('2026-10-01'), closesAt: time('2026-10-02') }

/** Contest 1 with a prize for the winner and one for the runner-up, which closed on 3 October. */
const CLOSED: readonly EventSketch[] = [
  { at: '2026-10-01', is: 'contest/scheduled', contest: 1, details: planned },
  { at: '2026-10-01', is: 'contest/opened', contest: 1 },
  { at: '2026-10-01', is: 'pool/sponsor', contest: 1, kots: '100' },
  { at: '2026-10-03', is: 'contest/closed', contest: 1 },
  { at: '2026-10-03', is: 'prize/winner', contest: 1, kots: '60' },
  { at: '2026-10-03', is: 'prize/runner_up', contest: 1, kots: '40' },
]
/** Paid after one and three days, which are events 7 to 9. */
const PAID: readonly EventSketch[] = [
  { at: '2026-10-04', is: 'payout/winner', contest: 1, kots: '60' },
  { at: '2026-10-06', is: 'payout/runner_up', contest: 1, kots: '40' },
  { at: '2026-10-07', is: 'contest/paid', contest: 1 },
]

function waitsOf(books: Books, query = ''): Waits {
  const found = computeAnswer(books, 'waits', { query, now: time('2026-10-20') })
  assert.ok(found.ok, found.ok ? '' : found.problem.detail)
  return found.value
}

const daysOf = (ms: number | null | undefined): number | null => (ms == null ? null : ms / (24 * HOUR_MS))

suite('the waits of contests', () => {
  test('are from the close to contest/paid, and by kind to its last payout', () => {
    const { contests, all, kinds } = waitsOf(logOf([...CLOSED, ...PAID]).books())
    assert.deepEqual(contests, { closed: 1, paid: 1, expired: 0, cancelled: 0, waiting: 0 })
    assert.deepEqual([daysOf(all.p50Ms), daysOf(all.p90Ms), daysOf(all.maxMs)], [4, 4, 4])
    assert.deepEqual(
      kinds.map(({ kind, paid, p50Ms }) => [kind, paid, daysOf(p50Ms)]),
      [
        ['runner_up', 1, 3],
        ['winner', 1, 1],
      ],
    )
  })

  test('go on while a prize is unpaid, and the contest that closed first has waited longest', () => {
    const { contests, all, kinds } = waitsOf(logOf([...CLOSED, ...PAID.slice(0, 1)]).books())
    assert.deepEqual(contests, { closed: 1, paid: 0, expired: 0, cancelled: 0, waiting: 1 })
    const oldest = { contestId: 1, closedAt: '2026-10-03T00:00:00.000Z', closedAtMs: time('2026-10-03') }
    assert.deepEqual(all, { paid: 0, p50Ms: null, p90Ms: null, maxMs: null, waiting: 1, oldest })
    assert.deepEqual(
      kinds.map(({ kind, waiting }) => [kind, waiting]),
      [['runner_up', 1]],
    )
  })

  test('begin again when a correction takes a payment back, and end with the payment that restates it', () => {
    const takenBack: EventSketch = {
      at: '2026-10-08',
      is: 'correction/payout',
      contest: 1,
      details: correcting(7),
    }
    const owing = waitsOf(logOf([...CLOSED, ...PAID, takenBack]).books())
    assert.deepEqual([owing.contests.paid, owing.contests.waiting, owing.kinds.length], [0, 1, 1])
    const again: EventSketch = { at: '2026-10-09', is: 'payout/winner', contest: 1, kots: '60' }
    const { all, kinds } = waitsOf(logOf([...CLOSED, ...PAID, takenBack, again]).books())
    assert.equal(daysOf(all.maxMs), 4)
    assert.equal(daysOf(kinds.find(({ kind }) => kind === 'winner')?.maxMs), 6)
  })

  test('of contests with an expiry, and of cancelled ones, are counted apart', () => {
    const lapsed: readonly EventSketch[] = [
      ...CLOSED,
      ...PAID.slice(0, 1),
      { at: '2026-10-06', is: 'expiry/runner_up', contest: 1, kots: '40' },
      ...PAID.slice(2),
      { at: '2026-10-08', is: 'contest/scheduled', contest: 2, details: planned },
      { at: '2026-10-09', is: 'contest/cancelled', contest: 2 },
    ]
    const { contests, all, kinds } = waitsOf(logOf(lapsed).books())
    assert.deepEqual(contests, { closed: 2, paid: 0, expired: 1, cancelled: 1, waiting: 0 })
    assert.deepEqual([all.paid, kinds], [0, []])
    const { contests: first } = waitsOf(logOf(lapsed).books(), 'to=2026-10-09')
    assert.deepEqual([first.closed, first.cancelled], [1, 0])
  })

  test('are of 1,000 contests at most: the default begins later, and a `from` is refused with one that fits', () => {
    const many = Array.from({ length: WAIT_CONTESTS_MAX + 1 }, (_, index): readonly EventSketch[] => [
      { at: '2026-10-01', is: 'contest/scheduled', contest: index + 1, details: planned },
      { at: index === 0 ? '2026-10-01' : '2026-10-02', is: 'contest/cancelled', contest: index + 1 },
    ])
    const sketches = many.flat().toSorted((a, b) => time(a.at) - time(b.at))
    const books = logOf(sketches).books()
    const usual = waitsOf(books)
    assert.deepEqual([usual.contests.closed, usual.from], [WAIT_CONTESTS_MAX, '2026-10-01T00:01:00.000Z'])
    const refused = computeAnswer(books, 'waits', { query: 'from=2026-10-01', now: time('2026-10-20') })
    assert.ok(!refused.ok)
    assert.equal(refused.problem.code, 'range-too-long')
    assert.deepEqual(refused.problem.members, { maxContests: WAIT_CONTESTS_MAX, from: usual.from })
    assert.equal(waitsOf(books, `from=${usual.from}`).contests.closed, WAIT_CONTESTS_MAX)
  })

  test('are of no contest, and never refused without a `from`, while more than 1,000 closed in the last minute', () => {
    const ids = Array.from({ length: WAIT_CONTESTS_MAX + 1 }, (_, index) => index + 1)
    const books = logOf([
      ...ids.map(
        (contest) => ({ at: '2026-10-02', is: 'contest/scheduled', contest, details: planned }) as const,
      ),
      ...ids.map((contest) => ({ at: '2026-10-02', is: 'contest/cancelled', contest }) as const),
    ]).books()
    const { contests, from, to } = waitsOf(books, `to=${time('2026-10-02') + 60_000}`)
    assert.deepEqual([contests.closed, from], [0, to])
  })
})
