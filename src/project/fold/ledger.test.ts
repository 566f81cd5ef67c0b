import assert from 'node:assert/strict'
import { test } from 'node:test'
import { correcting, logOf } from '../../../test/story/story.ts'

test('plays, prizes and burns are summed by kind, less what is corrected, without refunds', () => {
  const of = { at: '2026-10-01', contest: 1 } as const
  const { tally } = logOf([
    { ...of, is: 'play/entry', kots: '3' },
    { ...of, is: 'play/vote', kots: '5' },
    { ...of, is: 'play/entry', kots: '4' },
    { ...of, is: 'play/vote', kots: '6' },
    { at: '2026-10-02', is: 'correction/play', details: correcting(2) },
    { ...of, is: 'payout/winner', kots: '7' },
    { ...of, is: 'payout/refund', kots: '8' },
    { at: '2026-10-02', is: 'burn/platform_income', kots: '9' },
    { at: '2026-10-02', is: 'correction/payout', details: correcting(6) },
  ]).fold()
  assert.deepEqual(tally.byKind, {
    spentOnPlay: new Map([
      ['entry', 7_000_000_000n],
      ['vote', 6_000_000_000n],
    ]),
    paidInPrizes: new Map([['winner', 0n]]),
    burned: new Map([['platform_income', 9_000_000_000n]]),
  })
  const { spentOnPlay, paidInPrizes, refunded, burned } = tally.figures
  assert.deepEqual(
    [spentOnPlay, paidInPrizes, refunded, burned],
    [13n, 0n, 8n, 9n].map((one) => one * 10n ** 9n),
  )
})

test('a correction takes its amount back from the sum in which the corrected event is', () => {
  const of = { at: '2026-10-01', contest: 1 } as const
  const moved = [
    { at: '2026-10-01', is: 'treasury/deposit', kots: '1' },
    { at: '2026-10-01', is: 'treasury/withdrawal', kots: '2' },
    { ...of, is: 'pool/sponsor', kots: '4' },
    { ...of, is: 'payout/refund', kots: '8' },
    { ...of, is: 'expiry/winner', kots: '16' },
    { ...of, is: 'pool/returned', kots: '32' },
    { ...of, is: 'pool/top_up', kots: '64' },
  ] as const
  const sums = (corrected: readonly number[]): readonly bigint[] => {
    const corrections = corrected.map((seq) => ({
      at: '2026-10-02' as const,
      is: `correction/${moved[seq - 1]?.is.split('/')[0] ?? ''}` as const,
      details: correcting(seq),
    }))
    const { deposited, withdrawn, sponsored, refunded, expired } = logOf([...moved, ...corrections]).fold()
      .tally.figures
    return [deposited, withdrawn, sponsored, refunded, expired].map((sum) => sum / 10n ** 9n)
  }
  const all = [1n, 2n, 4n, 8n, 16n]
  assert.deepEqual(sums([]), all)
  for (const seq of [1, 2, 3, 4, 5]) assert.deepEqual(sums([seq]), all.with(seq - 1, 0n))
  assert.deepEqual(sums([6, 7]), all)
})
