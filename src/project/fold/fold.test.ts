import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventSketch } from '../../../test/story/story.ts'
import { logOf } from '../../../test/story/story.ts'

test('a fold keeps in memory the prizes that are owed, and nothing of contests that are paid', () => {
  const story = (contest: number, paid: boolean): readonly EventSketch[] => [
    { at: '2026-10-01', is: 'pool/top_up', contest, kots: '90' },
    { at: '2026-10-02', is: 'prize/winner', contest, kots: '90' },
    ...(paid ? [{ at: '2026-10-02', is: 'payout/winner', contest, kots: '90' } as const] : []),
  ]
  const { lotBooks } = logOf([1, 2, 3, 4].flatMap((contest) => story(contest, contest !== 3))).fold()
  assert.deepEqual(
    [...lotBooks.values()].map((book) => book.open.size),
    [1],
  )
})
