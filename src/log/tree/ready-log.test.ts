import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { every, publish } from '../../../test/stage/archive-node.ts'
import { OTHER_KEY, TEST_KEY, testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { MINUTE_MS } from '../../protocol/moment.ts'
import { parseNote } from '../../tlog/note.ts'
import { openAppender } from '../append.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { openForWriting, readIdentity, storePath } from '../store/store.ts'
import { faultAtStart } from './log-fault.ts'
import { beginNewLog, changeKeys, newestCheckpoint } from './ready-log.ts'
import { openSigner } from './signer.ts'

suite('a change of the keys of a log', () => {
  test('signs its newest tree with the new ones, of however few events', () => {
    for (const events of [0, 1, 2]) {
      using directory = openDirectory()
      using db = openForWriting(storePath(directory.path))
      const appender = openAppender(db, testSigner(db))
      if (events > 0) publish(appender, every(MINUTE_MS, events, Date.UTC(2026, 0, 1)))
      const signatures = (): number => {
        const note = parseNote(Buffer.from(newestCheckpoint(db).checkpoint))
        return note.ok ? note.value.signatures.length : 0
      }
      assert.equal(signatures(), 1)
      changeKeys(db, { keys: [TEST_KEY, OTHER_KEY], acceptNewKey: false })
      assert.equal(signatures(), 2, `${events} events`)
      assert.equal(faultAtStart(db, newestCheckpoint(db), [OTHER_KEY]), null)
    }
  })
})

suite('a new log after a loss', () => {
  test('continues the log of the store, and the log after it when an older copy was restored', () => {
    using directory = openDirectory()
    const store = storePath(directory.path)
    const copy = `${store}-copy`
    const first = openForWriting(store)
    publish(openAppender(first, testSigner(first)), every(MINUTE_MS, 3, Date.UTC(2026, 0, 1)))
    const { id, origin } = readIdentity(first)
    first.close()
    copyFileSync(store, copy)

    const later = openForWriting(store)
    inTransaction(later, () => beginNewLog(later, null, [TEST_KEY]))
    const second = readIdentity(later)
    assert.deepEqual(second.former, [{ id, origin, size: 3 }])
    const signer = openSigner(second.origin, [TEST_KEY])
    publish(openAppender(later, signer), every(MINUTE_MS, 2, Date.UTC(2026, 0, 2)))
    const mark = newestCheckpoint(later)
    later.close()

    using restored = openForWriting(copy)
    assert.equal(faultAtStart(restored, mark)?.lost, true)
    inTransaction(restored, () => beginNewLog(restored, mark, [TEST_KEY]))
    const third = readIdentity(restored)
    assert.deepEqual(third.former, [
      { id, origin, size: 3 },
      { id: second.id, origin: second.origin, size: 3 },
    ])
    assert.equal(new Set([origin, second.origin, third.origin]).size, 3)
    assert.equal(faultAtStart(restored, mark), null)
  })
})
