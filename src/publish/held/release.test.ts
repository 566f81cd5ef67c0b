import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { QUIET_QUEUE } from '../../../test/messages/quiet-queue.ts'
import { testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { openAppender } from '../../log/append.ts'
import { openHeldTables } from '../../log/held/held-tables.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { msOf } from '../../protocol/moment.ts'
import { openCommitQueue } from '../commits/commit-queue.ts'
import type { CommitPath } from '../commits/commit-path.ts'
import { openEmbeddedPath } from '../commits/embedded-path.ts'

const REFS = ['a', 'b', 'c', 'd', 'e']
const txOf = (ref: string): string => `transaction-${ref}`

suite('a release', () => {
  test('leaves the drafts for which its commit has no room to the next ones, in order of acceptance', async () => {
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    const appender = openAppender(db, testSigner(db))
    const embedded = openEmbeddedPath({ ...QUIET_QUEUE, appender })
    let begun = 0
    const path: CommitPath = {
      ...embedded,
      commit(work, done) {
        begun = appender.head().seq
        embedded.commit(work, done)
      },
      hasRoom: () => appender.head().seq < begun + 2,
    }
    const commits: string[] = []
    const queue = openCommitQueue({
      ...QUIET_QUEUE,
      appender,
      tables: openHeldTables(db),
      path,
      asksChain: true,
      balances: 'refuse',
      now: () => msOf(0),
      onCommit: ({ events, held }) => commits.push(`${events} published, ${held} held`),
    })
    await queue.submit(REFS.map((ref) => tradeDraft(ref, { tx: txOf(ref) })))
    const words = REFS.toReversed().map((ref) => ({ tx: txOf(ref), is: 'final', place: 'slot 1' }) as const)
    await queue.held.settle(words, 'chain')
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
    assert.deepEqual(commits, ['2 published, 3 held', '2 published, 1 held', '1 published, 0 held'])
    assert.deepEqual(
      REFS.map((ref) => appender.published(ref)?.seq),
      [1, 2, 3, 4, 5],
    )
    await queue.close()
  })
})
