import assert from 'node:assert/strict'
import { type DatabaseSync, StatementSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { LAUNCH, plan, storyDraft, type StoryEvent } from '../../../test/story/api-story.ts'
import { testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { add, formatAmount, ZERO } from '../../protocol/amount.ts'
import { HOUR_MS } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { openAppender } from '../append.ts'
import { openForWriting, storePath } from '../store/store.ts'
import { openTakesReader } from './stored-takes.ts'

/** Prizes of the story; the first has seq 2. */
const PRIZES = 60
const numbers = Array.from({ length: PRIZES }, (_, index) => index + 1)
const winner = { kind: 'winner', contestId: 1 } as const

/** Prizes of 3, the expiry of a half of each, and a payout of each rest. */
const paid: readonly StoryEvent[] = [
  plan(1, 'First', HOUR_MS),
  ...numbers.map(() => ({ ...winner, type: 'prize', kots: '3' }) as const),
  { ...winner, type: 'expiry', kots: `${PRIZES * 2}` },
  ...numbers.map((n) => ({ ...winner, type: 'payout', kots: '1', tx: `transaction-${1000 + n}` }) as const),
]

/** Corrections of all prizes and a smaller prize for each, in turn. */
const restated: readonly StoryEvent[] = numbers.flatMap((n) => [
  { type: 'correction', kind: 'prize', contestId: 1, kots: '-3', details: { corrects: seqOf(n + 1) } },
  { ...winner, type: 'prize', kots: '2', details: { restates: seqOf(n + 1) } },
])

/** Writes the story in these batches, one commit each. */
function storeWith(path: string, batches: readonly (readonly StoryEvent[])[]): DatabaseSync {
  const db = openForWriting(storePath(path))
  const appender = openAppender(db, testSigner(db))
  for (const batch of batches) {
    appender.begin()
    for (const event of batch) appender.append(storyDraft(event), null, LAUNCH)
    appender.write()
    appender.commit()
  }
  return db
}

/** Tables of the lots after the story in these batches. */
function lotsAfter(batches: readonly (readonly StoryEvent[])[]): readonly unknown[] {
  using directory = openDirectory()
  using db = storeWith(directory.path, batches)
  return ['takes', 'lots', 'unpaid'].map((table) => db.prepare(`SELECT * FROM ${table}`).all())
}

suite('the takes of a store', () => {
  test('are found by lot with eleven scans, however many lots are asked for', (context) => {
    using directory = openDirectory()
    using db = storeWith(directory.path, [paid])
    const takes = openTakesReader(db)
    const all = context.mock.method(StatementSync.prototype, 'all')
    for (const n of numbers) {
      const amounts = takes.takesFrom(seqOf(n + 1)).map(({ amount }) => amount)
      assert.equal(formatAmount(amounts.reduce(add, ZERO)), '3.000000000')
    }
    assert.equal(all.mock.callCount(), 11)
    takes.forget()
    takes.takesFrom(seqOf(2))
    assert.equal(all.mock.callCount(), 12)
  })

  test('are the same after many corrections in one batch as after one in each', () => {
    const inTwo = lotsAfter([paid, restated])
    assert.deepEqual(lotsAfter([[...paid, ...restated]]), inTwo)
    assert.deepEqual(lotsAfter([paid, ...restated.map((event) => [event])]), inTwo)
  })
})
