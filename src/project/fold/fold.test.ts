import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemoryLog } from '../../../test/story/memory-log.ts'
import type { EventSketch } from '../../../test/story/story.ts'
import { correcting, logOf } from '../../../test/story/story.ts'
import type { Seq } from '../../protocol/seq.ts'
import { seqOf } from '../../protocol/seq.ts'
import type { Lot } from './contest.ts'
import { apply, correctionOf, restatementOf, settled } from './fold.ts'
import type { LotBook } from './lots.ts'

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

test('a fold keeps at most 200,000 prizes that are owed in memory', () => {
  const fold = logOf([{ at: '2026-10-02', is: 'prize/winner', contest: 1, kots: '90' }]).fold()
  const lot = fold.shelf.lot(seqOf(1))
  assert.ok(lot !== undefined)
  const bookOf = (lots: number): LotBook => {
    const open = new Map(Array.from({ length: lots }, (_, index): [Seq, Lot] => [seqOf(index + 1), lot]))
    return { open, queue: [], groups: new Map(), hold: undefined }
  }
  const [many, one] = [bookOf(100_000), bookOf(1)]
  const kept = (...books: readonly LotBook[]): number =>
    settled({ ...fold, lotBooks: new Map(books.map((book, index) => [`${index}/winner`, book])) }).lotBooks
      .size
  assert.equal(kept(many, many), 2)
  assert.equal(kept(many, many, one), 0)
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
