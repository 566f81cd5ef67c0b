import assert from 'node:assert/strict'
import { test } from 'node:test'
import { correcting, logOf } from '../../../test/story/story.ts'

test('spending on play is summed by kind, less what is corrected', () => {
  const play = { at: '2026-10-01', contest: 1 } as const
  const { tally } = logOf([
    { ...play, is: 'play/entry', kots: '3' },
    { ...play, is: 'play/vote', kots: '5' },
    { ...play, is: 'play/entry', kots: '4' },
    { ...play, is: 'play/vote', kots: '6' },
    { at: '2026-10-02', is: 'correction/play', details: correcting(2) },
  ]).fold()
  assert.deepEqual(
    [...tally.spentByKind],
    [
      ['entry', 7_000_000_000n],
      ['vote', 6_000_000_000n],
    ],
  )
  assert.equal(tally.figures.spentOnPlay, 13_000_000_000n)
})
