import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { suite, test } from 'node:test'
import { QUIET_QUEUE } from '../../../test/commits/quiet-queue.ts'
import { testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { openAppender } from '../../log/append.ts'
import { openHeldTables } from '../../log/held/held-tables.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { msOf } from '../../protocol/moment.ts'
import { openCommitQueue } from './commit-queue.ts'
import { openEmbeddedPath } from './embedded-path.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A queue on a path that says whether a transaction is open. */
function openStage() {
  const directory = openDirectory()
  const db = openForWriting(storePath(directory.path))
  const appender = openAppender(db, testSigner(db))
  const path = { isOpen: true }
  const queue = openCommitQueue({
    ...QUIET_QUEUE,
    appender,
    tables: openHeldTables(db),
    path: { ...openEmbeddedPath({ ...QUIET_QUEUE, appender }), isOpen: () => path.isOpen },
    asksChain: true,
    balances: 'refuse',
    now: () => msOf(0),
  })
  return {
    queue,
    path,
    [Symbol.dispose]() {
      db.close()
      directory[Symbol.dispose]()
    },
  }
}

suite('the readers of held drafts', () => {
  test('wait while a commit is open, also when messages of other nodes are applied meanwhile', async () => {
    using stage = openStage()
    const { queue, path } = stage
    const read: string[] = []
    const readers = ['first', 'second'].map((name) => queue.held.quiet().then(() => read.push(name)))
    queue.changed('applied')
    await turn()
    assert.deepEqual(read, [])
    path.isOpen = false
    queue.changed('applied')
    await Promise.all(readers)
    assert.deepEqual(read, ['first', 'second'])
    await queue.held.quiet()
    await queue.close()
  })

  test('wait no longer than their signal says', async () => {
    using stage = openStage()
    const { queue, path } = stage
    const stop = new AbortController()
    const reader = queue.held.quiet(stop.signal)
    const other = queue.held.quiet()
    stop.abort()
    await assert.rejects(reader, /was aborted/)
    await assert.rejects(queue.held.quiet(stop.signal), /was aborted/)
    path.isOpen = false
    queue.changed('undone')
    await other
    await queue.held.quiet(stop.signal)
    await queue.close()
  })

  test('hold nothing of a signal after their wait', async () => {
    using stage = openStage()
    const { queue, path } = stage
    const { signal } = new AbortController()
    const readers = Array.from({ length: 3 }, () => queue.held.quiet(signal))
    assert.equal(getEventListeners(signal, 'abort').length, 3)
    path.isOpen = false
    queue.changed('committed')
    await Promise.all(readers)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    await queue.close()
  })
})
