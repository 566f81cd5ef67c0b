import assert from 'node:assert/strict'
import { test } from 'node:test'
import { correcting, type EventSketch, logOf, month, time } from '../../../test/story/story.ts'
import { loyaltyRuns } from './loyalty-runs.ts'

const digest = `sha256:${'ab'.repeat(32)}`
const own = { month: month('2026-09') }

test('the loyalty runs list a month for any one of its events, unless all are cancelled', () => {
  for (const sketch of [
    { is: 'loyalty/scheduled', details: { ...own, paysAt: time('2026-10-05') } },
    { is: 'loyalty/input', details: { ...own, digest, bytes: 12 } },
    { is: 'loyalty/output', kots: '40', details: { ...own, digest, recipients: 3 } },
    { is: 'payout/loyalty', kots: '30', details: own },
  ] as const) {
    const story = [{ at: '2026-10-05', ...sketch }]
    const type = sketch.is.startsWith('loyalty/') ? 'loyalty' : 'payout'
    const cancelled = { at: '2026-10-05', is: `correction/${type}` as const, details: correcting(1) }
    const monthsOf = (told: readonly EventSketch[]): readonly string[] =>
      loyaltyRuns(logOf(told).books()).runs.map((run) => run.month)
    assert.deepEqual([monthsOf(story), monthsOf([...story, cancelled])], [['2026-09'], []], sketch.is)
  }
})
