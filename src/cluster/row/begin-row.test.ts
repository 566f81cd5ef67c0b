import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { beginWith, listedKey, openWrittenLog, rowAfter } from '../../../test/cluster/row/written-log.ts'
import { OTHER_KEY, TEST_KEY } from '../../../test/story/signing.ts'
import { openForWriting, readIdentity, StoreError } from '../../log/store/store.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import { beginOf, createStoreFromRow } from './begin-row.ts'
import type { BeginRow } from './log-row.ts'
import { digestOfRow, encodeRow } from './row-frame.ts'
import { clearTablePlace, openKeptRows, readTablePlace, writeTablePlace } from './kept-rows.ts'
import { openRowKeys } from './row-keys.ts'

const BOTH = [listedKey(TEST_KEY), listedKey(OTHER_KEY)].toSorted((a, b) => (a.vkey < b.vkey ? -1 : 1))

/** The first row of a log, signed with a key. */
const firstRow = (begin: BeginRow, key = TEST_KEY): Uint8Array => rowAfter(undefined, 1, begin, key)

suite('a node that joins', () => {
  const empty = (t: { after(end: () => void): void }): string => {
    const directory = mkdtempSync(join(tmpdir(), 'daybook-join-'))
    t.after(() => rmSync(directory, { recursive: true }))
    return join(directory, 'daybook.db')
  }

  test('has the empty log of the first row, signed, with its place', (t) => {
    const bytes = firstRow(beginWith(BOTH))
    const path = empty(t)
    createStoreFromRow(path, bytes, [TEST_KEY, OTHER_KEY])
    using db = openForWriting(path)
    assert.deepEqual(beginOf(db), beginWith(BOTH))
    assert.deepEqual(readTablePlace(db), { place: 1, digest: Buffer.from(digestOfRow(bytes)) })
    assert.deepEqual(openKeptRows(db).from(0), [{ place: 1, bytes: Uint8Array.from(bytes) }])
    assert.equal(faultAtStart(db, null, [TEST_KEY]), null)
  })

  test('signs the same, whatever the order of its key files', (t) => {
    const signatures = [
      [TEST_KEY, OTHER_KEY],
      [OTHER_KEY, TEST_KEY],
    ].map((own) => {
      const path = empty(t)
      createStoreFromRow(path, firstRow(beginWith(BOTH.toReversed())), own)
      using db = openForWriting(path)
      assert.deepEqual(
        openRowKeys(db, own).signing.map((key) => listedKey(key).vkey),
        BOTH.map(({ vkey }) => vkey),
      )
      return db.prepare("SELECT value FROM meta WHERE key = 'empty_signature'").get()
    })
    assert.ok(signatures[0] !== undefined)
    assert.deepEqual(signatures[0], signatures[1])
  })

  test('needs all keys of the log, and a first row that one of them has signed', (t) => {
    const path = empty(t)
    const begin = beginWith()
    const { vkey } = listedKey(TEST_KEY)
    const create = (bytes: Uint8Array, own = [TEST_KEY]): void => createStoreFromRow(path, bytes, own)
    assert.throws(
      () => create(firstRow(begin), [OTHER_KEY]),
      new StoreError(`the log is signed with ${vkey}: give the file of that key with --signing-key-file`),
    )
    assert.throws(() => create(firstRow(beginWith(BOTH))), /give the file of that key/)
    assert.throws(() => create(firstRow(beginWith([listedKey(TEST_KEY, 0, 0)]))), /lists no key that signs/)
    assert.throws(
      () => create(firstRow(begin, OTHER_KEY), [TEST_KEY, OTHER_KEY]),
      new StoreError('the first row of the table is foreign: no key of the log has signed it'),
    )
    const foreign = { v: 1, logId: 'f'.repeat(32), place: 1, prev: new Uint8Array(32), ...begin } as const
    assert.throws(() => create(encodeRow(foreign, TEST_KEY)), /is foreign: it is of another log/)
    const later = encodeRow({ ...foreign, logId: begin.identity.id, place: 2 }, TEST_KEY)
    assert.throws(() => create(later), /is foreign: it was made for place 2/)
    const after = encodeRow({ ...foreign, logId: begin.identity.id, prev: Buffer.alloc(32, 1) }, TEST_KEY)
    assert.throws(() => create(after), /is foreign: it does not follow/)
    assert.throws(() => create(firstRow(begin).subarray(1)), /the first row of the table cannot be read/)
    using log = openWrittenLog(['a'])
    assert.throws(() => create(log.rows[1] ?? assert.fail()), /does not begin a log/)
    assert.ok(!existsSync(path))
  })
})

test('the keys of a node are those that sign the log now, and it must have all of them', () => {
  using log = openWrittenLog([])
  assert.deepEqual(openRowKeys(log.db, [OTHER_KEY, TEST_KEY]).signing, [TEST_KEY])
  assert.throws(() => openRowKeys(log.db, [OTHER_KEY]), /the log is signed with daybook\.test\/rows\+/)
})

suite('the place of a store in its table', () => {
  test('is read as it was written, and none after the log has left the table', () => {
    using log = openWrittenLog([])
    const newest = { place: 2 ** 40, digest: Buffer.alloc(32, 7) }
    writeTablePlace(log.db, newest)
    assert.deepEqual(readTablePlace(log.db), newest)
    readIdentity(log.db)
    clearTablePlace(log.db)
    assert.equal(readTablePlace(log.db), null)
  })

  test('is not read when it is damaged', () => {
    using log = openWrittenLog(['a'])
    for (const sql of [
      "UPDATE meta SET value = '0' WHERE key = 'table_place'",
      "UPDATE meta SET value = '2 ' WHERE key = 'table_place'",
      "UPDATE meta SET value = 'ab' WHERE key = 'table_digest'",
      "DELETE FROM meta WHERE key = 'table_place'",
      "DELETE FROM meta WHERE key = 'table_digest'",
    ]) {
      log.db.exec(`SAVEPOINT damage; ${sql}`)
      assert.throws(() => readTablePlace(log.db), /the place of the store in its table is damaged/, sql)
      log.db.exec('ROLLBACK TO damage; RELEASE damage')
    }
    assert.equal(readTablePlace(log.db)?.place, 2)
  })
})
