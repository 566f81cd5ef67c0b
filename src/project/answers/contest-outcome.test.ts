import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { correcting, type EventSketch, logOf, time } from '../../../test/story/story.ts'
import type { Contest } from '../../protocol/endpoints/contest-endpoints.ts'
import { computeAnswer } from '../../../test/story/memory-log.ts'

type End = Readonly<Pick<EventSketch, 'is' | 'kots' | 'details'>>

const planned = { opensAt: time('2026-10-02'), closesAt: time('2026-10-03') }

/** Contest 1 with 50 for the winner and 20 for the runner-up, after these events. */
function endedBy(...events: readonly End[]): Contest {
  const first: readonly EventSketch[] = [
    { at: '2026-10-01', is: 'contest/scheduled', contest: 1, details: planned },
    { at: '2026-10-02', is: 'contest/opened', contest: 1 },
    { at: '2026-10-02', is: 'pool/top_up', contest: 1, kots: '100' },
    { at: '2026-10-03', is: 'contest/closed', contest: 1 },
    { at: '2026-10-03', is: 'prize/winner', contest: 1, kots: '50' },
    { at: '2026-10-03', is: 'prize/runner_up', contest: 1, kots: '20' },
  ]
  const last = events.map((event) => ({ ...event, at: '2026-10-04', contest: 1 }))
  const found = computeAnswer(logOf([...first, ...last]).books(), 'contest', { segments: { id: '1' } })
  assert.ok(found.ok)
  return found.value
}

suite('the outcome of a contest', () => {
  const all = [
    { is: 'payout/winner', kots: '50' },
    { is: 'payout/runner_up', kots: '20' },
  ] as const
  const [winner] = all
  const paid = { is: 'contest/paid' } as const
  const takenBack = { is: 'correction/payout', details: correcting(7) } as const
  const lapse = { is: 'expiry/runner_up', kots: '20' } as const
  const table: readonly (readonly [promise: string, is: string | null, readonly End[]])[] = [
    ['is null while nothing is paid', null, []],
    ['is null when all is paid, before `contest/paid`', null, [...all]],
    ['is paid after `contest/paid`', 'paid', [...all, paid]],
    ['is lapsed when all is settled, and some expired', 'lapsed', [winner, lapse, paid]],
    ['is owing when a correction took a payment back', 'owing', [...all, paid, takenBack]],
    ['is owing before it is lapsed', 'owing', [winner, lapse, paid, takenBack]],
    ['is paid again when the payment is restated', 'paid', [...all, paid, takenBack, winner]],
    [
      'is paid when the expiry is corrected and paid',
      'paid',
      [winner, lapse, paid, { is: 'correction/expiry', details: correcting(8) }, all[1]],
    ],
    [
      'is owing when an overpaid kind hides the one that is owed',
      'owing',
      [
        ...all,
        paid,
        { is: 'correction/prize', details: correcting(5) },
        { ...takenBack, details: correcting(8) },
      ],
    ],
    [
      'is paid when a kind is overpaid and none is owed',
      'paid',
      [...all, paid, { is: 'correction/prize', details: correcting(5) }],
    ],
    ['is cancelled at once', 'cancelled', [{ is: 'contest/cancelled' }]],
    ['stays cancelled', 'cancelled', [{ is: 'contest/cancelled' }, paid]],
  ]
  for (const [promise, is, events] of table) {
    test(promise, () => assert.equal(endedBy(...events).outcome, is))
  }

  test('stands beside the moments of `contest/paid` and `contest/cancelled`, and what expired', () => {
    const { paidAt, cancelledAt, cancelledAtMs, prizesExpired } = endedBy(...all, paid, takenBack)
    assert.deepEqual([paidAt, cancelledAt, cancelledAtMs], ['2026-10-04T00:00:00.000Z', null, null])
    assert.equal(prizesExpired, '0.000000000')
    assert.equal(endedBy(winner, lapse).prizesExpired, '20.000000000')
    const cancelled = endedBy({ is: 'contest/cancelled' })
    assert.deepEqual([cancelled.cancelledAt, cancelled.closedAt], Array(2).fill('2026-10-04T00:00:00.000Z'))
    assert.equal(cancelled.cancelledAtMs, time('2026-10-04'))
  })
})
