import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { LAUNCH, plan, storyDraft, type StoryEvent } from '../../test/story/api-story.ts'
import { testSigner } from '../../test/story/signing.ts'
import { openDirectory } from '../../test/story/store-run.ts'
import { kindKey } from '../project/fold/contest.ts'
import { formatAmount } from '../protocol/amount.ts'
import { HOUR_MS } from '../protocol/moment.ts'
import { contestIdOf } from '../protocol/seq.ts'
import { openAppender } from './append.ts'
import { openForWriting, storePath } from './store/store.ts'

function prize(contestId: number): StoryEvent {
  return { type: 'prize', kind: 'winner', contestId, kots: '9' }
}

function payout(contestId: number, n: number): StoryEvent {
  return { type: 'payout', kind: 'winner', contestId, kots: '1', tx: `transaction-${1000 + n}` }
}

const hold: StoryEvent = {
  type: 'hold',
  kind: 'winner',
  contestId: 1,
  details: { reviewUntil: LAUNCH },
}

suite('an appender', () => {
  for (const [what, dropped, read] of [
    ['reads no prizes again after a batch without drafts was dropped', [], []],
    ['reads no prizes of another contest again after a batch was dropped', [payout(2, 0)], []],
    ['reads the prizes that a dropped payout changed', [payout(1, 0)], [1]],
    ['reads the prizes that a dropped hold changed', [hold], [1]],
  ] as const) {
    test(what, (context) => {
      using directory = openDirectory()
      using db = openForWriting(storePath(directory.path))
      const appender = openAppender(db, testSigner(db))
      const append = (events: readonly StoryEvent[]): void => {
        for (const event of events) appender.append(storyDraft(event), null, LAUNCH)
      }
      const commit = (events: readonly StoryEvent[]): void => {
        appender.begin()
        append(events)
        appender.write()
        appender.commit()
      }
      commit([plan(1, 'First', HOUR_MS), plan(2, 'Second', HOUR_MS), prize(1), prize(2)])
      commit([payout(1, 1)])
      const openLots = context.mock.method(appender.fold().repository, 'openLots')
      appender.begin()
      append(dropped)
      appender.forget()
      appender.commit()
      openLots.mock.resetCalls()
      commit([payout(1, 2)])
      const contests = openLots.mock.calls.map(({ arguments: [contest] }) => contest)
      assert.deepEqual(contests, read)
      const book = appender.fold().lotBooks.get(kindKey(contestIdOf(1), 'winner'))
      const unpaid = [...(book?.open.values() ?? [])].map((lot) => formatAmount(lot.unpaid))
      assert.deepEqual([unpaid, book?.hold], [['7.000000000'], undefined])
    })
  }
})
