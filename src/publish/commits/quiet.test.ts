import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { QUIET_QUEUE } from '../../../test/messages/quiet-queue.ts'
import { testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { openAppender } from '../../log/append.ts'
import { openHeldTables } from '../../log/held/held-tables.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { msOf } from '../../protocol/moment.ts'
import { openCommitQueue } from './commit-queue.ts'
import { openEmbeddedPath } from './embedded-path.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

suite('the readers of held drafts', () => {
  test('wait while a commit is open, also when messages of other nodes are applied meanwhile', async () => {
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    const appender = openAppender(db, testSigner(db))
    let isOpen = true
    const queue = openCommitQueue({
      ...QUIET_QUEUE,
      appender,
      tables: openHeldTables(db),
      path: { ...openEmbeddedPath({ ...QUIET_QUEUE, appender }), isOpen: () => isOpen },
      asksChain: true,
      balances: 'refuse',
      now: () => msOf(0),
    })
    const read: string[] = []
    const readers = ['first', 'second'].map((name) => queue.held.quiet().then(() => read.push(name)))
    queue.changed('applied')
    await turn()
    assert.deepEqual(read, [])
    isOpen = false
    queue.changed('applied')
    await Promise.all(readers)
    assert.deepEqual(read, ['first', 'second'])
    await queue.held.quiet()
    await queue.close()
  })
})
