import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { correcting, type EventSketch, logOf, priced, time } from '../../../test/story/story.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Summary } from '../../protocol/endpoints/figure-endpoints.ts'
import type { Books } from '../fold/books.ts'
import { resolveMoment, summary } from './summary.ts'
import { prepareAnswer } from '../../../test/story/memory-log.ts'

const planned = { opensAt: time('2026-10-01T10:00Z'), closesAt: time('2026-10-02T10:00Z') }
const story: readonly EventSketch[] = [
  { at: '2026-10-01T00:00:00.500Z', is: 'treasury/deposit', kots: '1000' },
  { at: '2026-10-01T00:00:00.500Z', is: 'contest/scheduled', contest: 7, details: planned },
  { at: '2026-10-01T10:00Z', is: 'contest/opened', contest: 7 },
  { at: '2026-10-01T11:00Z', is: 'play/entry', contest: 7, kots: '10', details: { count: 4 } },
  { at: '2026-10-01T11:00Z', is: 'play/vote', contest: 7, kots: '2.5' },
  { at: '2026-10-01T12:00Z', is: 'price/usd', details: priced('0.25') },
  { at: '2026-10-01T12:00Z', is: 'pool/top_up', contest: 7, kots: '100' },
  { at: '2026-10-02T10:00Z', is: 'contest/closed', contest: 7 },
  { at: '2026-10-02T10:00Z', is: 'prize/winner', contest: 7, kots: '90' },
  { at: '2026-10-02T12:00Z', is: 'payout/winner', contest: 7, kots: '60' },
  { at: '2026-10-02T12:00Z', is: 'payout/refund', contest: 7, kots: '4' },
  { at: '2026-10-03T00:00Z', is: 'burn/platform_income', kots: '20' },
  { at: '2026-10-03T00:00Z', is: 'loyalty/accrual', kots: '30' },
  { at: '2026-10-04T00:00Z', is: 'correction/payout', details: correcting(10) },
  { at: '2026-10-05T00:00Z', is: 'correction/price', details: correcting(6) },
]
const books = logOf(story).books()
const now = time('2026-10-06')

function at(moment: Ms | null, of: Books = books): Summary {
  return summary(of, moment)
}

suite('the summary', () => {
  test('shows the present figures', () => {
    assert.deepEqual(at(null), {
      asOf: { seq: 15, at: '2026-10-05T00:00:00.000Z', atMs: time('2026-10-05') },
      contests: { upcoming: 0, running: 0, paying: 1, paid: 0 },
      entries: 4,
      plays: 5,
      events: 15,
      payouts: 1,
      spentOnPlay: '12.500000000',
      paidInPrizes: '0.000000000',
      paidInLoyalty: '0.000000000',
      burned: '20.000000000',
      runningPools: '6.000000000',
      prizesNotRedeemed: '90.000000000',
      treasury: '862.500000000',
      loyaltyFund: '30.000000000',
      tokenPriceUsd: null,
    })
  })

  test('counts events up to and including the given millisecond', () => {
    const then = at(time('2026-10-02T12:00Z'))
    assert.deepEqual([then.events, then.payouts, then.paidInPrizes], [11, 2, '60.000000000'])
    assert.equal(at(time('2026-10-02T11:59:59.999Z')).events, 9)
    assert.equal(then.tokenPriceUsd, '0.250000000000')
  })

  test('has zeros before the first event', () => {
    const zeros = at(time('2026-10-01T00:00:00.499Z'))
    assert.deepEqual(zeros.asOf, { seq: 0, at: null, atMs: null })
    assert.deepEqual([zeros.events, zeros.treasury, zeros.tokenPriceUsd], [0, '0.000000000', null])
  })

  test('has zeros in an empty log', () => {
    assert.deepEqual(at(null, logOf([]).books()).asOf, { seq: 0, at: null, atMs: null })
  })

  test('is refused only for a moment after both the present and the head', () => {
    const refused = resolveMoment((now + 1) as Ms, now, books.head)
    assert.equal(!refused.ok && refused.problem.code, 'in-the-future')
    const detail = /^The newest event is of 2026-10-\d\d \d\d:\d\d UTC\. Choose an earlier moment\.$/
    assert.match(refused.ok ? '' : refused.problem.detail, detail)
    assert.equal(at(now).events, 15)
    assert.ok(resolveMoment(time('2026-10-05'), time('2026-10-04'), books.head).ok)
  })

  test('never changes for a moment before the head', () => {
    const freshness = (query: string, of = books): string | undefined => {
      const prepared = prepareAnswer(of, 'summary', { query })
      return prepared.ok ? prepared.value.freshness : undefined
    }
    assert.equal(freshness('at=2026-10-04T23:59:59.999Z'), 'settled')
    assert.equal(freshness('at=2026-10-05'), 'log')
    assert.equal(freshness(''), 'log')
    assert.equal(freshness('at=2026-10-04', logOf([]).books()), 'log')
  })
})
