import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { correcting, logOf, month, time } from '../../../test/story/story.ts'
import { loyaltyRuns } from './loyalty-runs.ts'

const digest = `sha256:${'ab'.repeat(32)}`
const of = (text: string) => ({ month: month(text) })

suite('the loyalty runs', () => {
  test('list a month for any one of its events', () => {
    for (const sketch of [
      { is: 'loyalty/scheduled', details: { ...of('2026-09'), paysAt: time('2026-10-05') } },
      { is: 'loyalty/input', details: { ...of('2026-09'), digest, bytes: 12 } },
      { is: 'loyalty/output', kots: '40', details: { ...of('2026-09'), digest, recipients: 3 } },
      { is: 'payout/loyalty', kots: '30', details: of('2026-09') },
    ] as const) {
      const { runs } = loyaltyRuns(logOf([{ at: '2026-10-05', ...sketch }]).books())
      assert.deepEqual(
        runs.map((run) => run.month),
        ['2026-09'],
        sketch.is,
      )
    }
  })

  test('show input, output and paid amount of each month, newest first', () => {
    const log = logOf([
      { at: '2026-10-01', is: 'loyalty/accrual', kots: '50' },
      {
        at: '2026-10-01',
        is: 'loyalty/scheduled',
        details: { ...of('2026-09'), paysAt: time('2026-10-05') },
      },
      {
        at: '2026-10-01',
        is: 'loyalty/scheduled',
        details: { ...of('2026-10'), paysAt: time('2026-11-05') },
      },
      { at: '2026-10-02', is: 'loyalty/input', details: { ...of('2026-09'), digest, bytes: 12 } },
      {
        at: '2026-10-03',
        is: 'loyalty/output',
        kots: '40',
        details: { ...of('2026-09'), digest, recipients: 3 },
      },
      { at: '2026-10-05', is: 'payout/loyalty', kots: '30', details: of('2026-09') },
      { at: '2026-10-05', is: 'payout/loyalty', kots: '5', details: of('2026-09') },
      { at: '2026-10-05', is: 'correction/payout', details: correcting(7) },
    ])
    const { asOf, runs } = loyaltyRuns(log.books())
    assert.equal(asOf.seq, 8)
    assert.deepEqual(
      runs.map((run) => run.month),
      ['2026-10', '2026-09'],
    )
    assert.deepEqual(runs[1], {
      month: '2026-09',
      paysAt: '2026-10-05T00:00:00.000Z',
      paysAtMs: time('2026-10-05'),
      input: {
        seq: 4,
        digest,
        bytes: 12,
        url: null,
        at: '2026-10-02T00:00:00.000Z',
        atMs: time('2026-10-02'),
      },
      output: {
        seq: 5,
        digest,
        bytes: null,
        url: null,
        at: '2026-10-03T00:00:00.000Z',
        atMs: time('2026-10-03'),
      },
      recipients: 3,
      total: '40.000000000',
      paid: '30.000000000',
      notPaid: '10.000000000',
      payouts: 1,
    })
    assert.deepEqual([runs[0]?.total, runs[0]?.notPaid, runs[0]?.paid], [null, null, '0.000000000'])
  })

  test('omit months whose events are all cancelled', () => {
    const log = logOf([
      {
        at: '2026-10-01',
        is: 'loyalty/scheduled',
        details: { ...of('2026-09'), paysAt: time('2026-10-05') },
      },
      { at: '2026-10-01', is: 'correction/loyalty', details: correcting(1) },
    ])
    assert.deepEqual(loyaltyRuns(log.books()).runs, [])
  })
})
