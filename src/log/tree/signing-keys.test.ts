import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { OTHER_KEY, signingKeyOf, TEST_KEY } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { openForWriting, readIdentity, StoreError, storePath } from '../store/store.ts'
import { type SigningKey, verifierKeyOf } from './signer.ts'
import { faultOfKeys, listKeys, readKeys, signingVkeys } from './signing-keys.ts'
import { formatVkey } from '../../tlog/note.ts'

const THIRD_KEY = signingKeyOf('5'.repeat(64))
const ORIGIN = 'daybook.test/store'
const NAMES = new Map(
  [TEST_KEY, OTHER_KEY, THIRD_KEY].map((key, index) => [vkeyOf(key), 'abc'.charAt(index)]),
)
const ANOTHER_KEY = /: this log is signed with another key/

function vkeyOf({ publicKey }: SigningKey): string {
  return formatVkey(verifierKeyOf(ORIGIN, publicKey))
}

/** Makes these keys sign the log from a size on. */
function list(db: DatabaseSync, size: number, keys: readonly SigningKey[], acceptNewKey = false): boolean {
  return listKeys(db, { origin: readIdentity(db).origin, size, keys, acceptNewKey })
}

/** The list: name of each key, its sizes, and whether another key vouches for it. */
function listed(db: DatabaseSync): readonly string[] {
  return readKeys(db).map(({ vkey, fromSize, toSize, statement }) => {
    const span = `${NAMES.get(vkey) ?? vkey} ${fromSize} to ${toSize ?? 'now'}`
    return statement === null ? span : `${span}, vouched for`
  })
}

suite('the keys that sign a log', () => {
  test('are those that it was given last, each vouched for by an older one, and the others are retired', async () => {
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    assert.deepEqual([list(db, 0, [TEST_KEY]), list(db, 4, [TEST_KEY])], [true, false])
    assert.deepEqual(listed(db), ['a 0 to now'])
    assert.deepEqual([list(db, 5, [OTHER_KEY, TEST_KEY]), list(db, 6, [OTHER_KEY, TEST_KEY])], [true, false])
    assert.deepEqual(listed(db), ['a 0 to now', 'b 5 to now, vouched for'])
    assert.equal(list(db, 7, [OTHER_KEY]), true)
    assert.deepEqual(listed(db), ['a 0 to 7', 'b 5 to now, vouched for'])
    assert.deepEqual(signingVkeys(db), [vkeyOf(OTHER_KEY)])
    assert.equal(await faultOfKeys(db), null)
  })

  test('may be one that signed before, which signs from its former size on', () => {
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    list(db, 0, [TEST_KEY, OTHER_KEY])
    list(db, 3, [OTHER_KEY])
    assert.equal(list(db, 8, [OTHER_KEY, TEST_KEY]), true)
    assert.deepEqual(listed(db), ['a 0 to now', 'b 0 to now'])
  })

  test('are no others than those of a log, unless its key is lost: then nobody vouches for the new one', async () => {
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    list(db, 0, [TEST_KEY])
    assert.throws(() => list(db, 2, [OTHER_KEY]), ANOTHER_KEY)
    assert.throws(() => list(db, 2, [OTHER_KEY, THIRD_KEY]), StoreError)
    assert.deepEqual(listed(db), ['a 0 to now'])
    assert.equal(list(db, 2, [OTHER_KEY], true), true)
    assert.deepEqual(listed(db), ['a 0 to 2', 'b 2 to now'])
    assert.throws(() => list(db, 3, [TEST_KEY]), ANOTHER_KEY, 'a retired key cannot come back alone')
    assert.equal(await faultOfKeys(db), null)
  })
})
