import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemoryLog } from '../../../test/story/memory-log.ts'
import { correcting, type EventSketch, logOf } from '../../../test/story/story.ts'
import { seqOf } from '../../protocol/seq.ts'
import { apply, correctionOf, openFold, restatementOf, withoutChanges } from './fold.ts'
import { emptyTally } from './tally.ts'

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

/** Contests whose prizes are read, when each payout is a batch of its own and at most two lots are cached. */
function contestsRead(owed: readonly number[], payouts: readonly number[]): readonly number[] {
  const prizes = owed.map(
    (contest) => ({ at: '2026-10-02', is: 'prize/winner', contest, kots: '9' }) as const,
  )
  const paid = payouts.map(
    (contest) => ({ at: '2026-10-03', is: 'payout/winner', contest, kots: '1' }) as const,
  )
  const { repository } = logOf(prizes).fold()
  const read: number[] = []
  const openLots: typeof repository.openLots = (contest, kind) => {
    read.push(contest)
    return repository.openLots(contest, kind)
  }
  let fold = openFold(emptyTally(), { ...repository, openLots }, 2)
  for (const entry of logOf([...prizes, ...paid])
    .entries()
    .slice(prizes.length)) {
    apply(fold, entry)
    fold = withoutChanges(fold)
  }
  return read
}

test('a fold reads the prizes of a contest beyond its limit once, also with small contests in between', () => {
  assert.deepEqual(contestsRead([1, 1, 1, 2], [1, 1, 2, 1, 2]), [1, 2, 2])
})

test('a fold forgets the prizes that were used first when later ones reach its limit', () => {
  assert.deepEqual(contestsRead([1, 1, 1, 2, 2, 3], [1, 2, 3, 2, 1, 3]), [1, 2, 3, 1, 3])
})

test('a fold knows the correction of an event and its replacement, in a batch and after it', () => {
  const log = logOf([
    { at: '2026-10-01', is: 'treasury/deposit', kots: '3' },
    { at: '2026-10-02', is: 'treasury/deposit', kots: '90' },
    { at: '2026-10-03', is: 'correction/treasury', details: correcting(2) },
    { at: '2026-10-03', is: 'treasury/deposit', kots: '9', details: { restates: seqOf(2) } },
  ])
  const batch = openMemoryLog().fold()
  for (const entry of log.entries()) apply(batch, entry)
  for (const fold of [batch, log.fold()]) {
    const found = [1, 2, 3, 4].map(seqOf).map((seq) => [correctionOf(fold, seq), restatementOf(fold, seq)])
    const none = [undefined, undefined]
    assert.deepEqual(found, [none, [3, 4], none, none])
  }
})
