import assert from 'node:assert/strict'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { replaceKeys, readKeys } from '../../src/log/tree/signing-keys.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import {
  change,
  copyLog,
  makeLog,
  openFolder,
  publishUpTo,
  refusalAtStart,
  runBackup,
  runCheck,
  SIGNING,
} from '../story/damaged-log.ts'
import { OTHER_KEY, signingKeyOf, TEST_KEY } from '../story/signing.ts'

const THIRD_KEY = signingKeyOf('03'.repeat(32))
const NOT_OURS = /^signing_keys: no given key signs this log or vouches for its present key/m

/** Makes a log of the same origin that another key signs. */
function makeForged(data: string, ends: readonly number[], key: SigningKey): void {
  assert.equal(refusalAtStart(data, { ...SIGNING, keys: [key] }), undefined)
  publishUpTo(data, ends, [key], 1)
}

async function assertRefused(data: string, keys: readonly SigningKey[]): Promise<void> {
  const { code, said } = await runCheck(data, keys)
  assert.equal(code, 1, said)
  assert.match(said, NOT_OURS)
}

async function assertSound(data: string, keys: readonly SigningKey[]): Promise<void> {
  const { code, said } = await runCheck(data, keys)
  assert.equal(code, 0, said)
}

suite('a key that is given to a check', () => {
  for (const [name, ends] of [
    ['with other events', [3, 5]],
    ['without events', []],
  ] as const) {
    test(`refuses a log of the same origin, ${name}, that another key has signed`, async () => {
      using folder = openFolder()
      const { data } = folder
      makeForged(data, ends, OTHER_KEY)
      await assertSound(data, [])
      await assertSound(data, [OTHER_KEY])
      await assertRefused(data, [TEST_KEY])
      await assertRefused(data, [TEST_KEY, THIRD_KEY])
      await assertSound(data, [TEST_KEY, OTHER_KEY])
      const to = join(folder.path, 'copy.db')
      await assert.rejects(runBackup(data, to, { isFull: true, keys: [TEST_KEY] }), /no copy was made/)
      assert.equal(existsSync(to), false)
      const made = await runBackup(data, to, { isFull: true, keys: [OTHER_KEY] })
      assert.equal(made.code, 0, made.said)
    })
  }

  test('accepts the key that took its place with its signature, and no key that came without it', async () => {
    using folder = openFolder()
    const { data } = folder
    const lost = join(folder.path, 'lost')
    makeLog(data, [3, 5])
    copyLog(data, lost)
    for (const keys of [[TEST_KEY, OTHER_KEY], [OTHER_KEY], [OTHER_KEY, THIRD_KEY], [THIRD_KEY]]) {
      assert.equal(refusalAtStart(data, { ...SIGNING, keys }), undefined)
      for (const key of [TEST_KEY, ...keys]) await assertSound(data, [key])
    }
    publishUpTo(data, [8], [THIRD_KEY])
    for (const key of [TEST_KEY, OTHER_KEY, THIRD_KEY]) await assertSound(data, [key])

    const settings = { ...SIGNING, keys: [OTHER_KEY], acceptNewKey: true }
    assert.equal(refusalAtStart(lost, settings), undefined)
    await assertSound(lost, [OTHER_KEY])
    await assertRefused(lost, [TEST_KEY])
  })

  test('refuses a log that lists the true keys and is signed by another', async () => {
    using folder = openFolder()
    const { data } = folder
    const forged = join(folder.path, 'forged')
    makeLog(data, [3, 5])
    for (const keys of [[TEST_KEY, OTHER_KEY], [OTHER_KEY]])
      assert.equal(refusalAtStart(data, { ...SIGNING, keys }), undefined)
    const truly = change(data, readKeys)
    for (const ends of [[4], [4, 9]]) {
      makeForged(forged, ends, THIRD_KEY)
      change(forged, (db) => replaceKeys(db, [...readKeys(db), ...truly]))
      await assertRefused(forged, [TEST_KEY])
      const { code, said } = await runCheck(forged, [OTHER_KEY])
      assert.equal(code, 1, said)
      change(forged, (db) =>
        replaceKeys(
          db,
          readKeys(db).filter(({ statement, toSize }) => statement === null && toSize === null),
        ),
      )
    }
  })

  test('refuses a backup from before it was listed, as a start does, unless the older key is given too', async () => {
    using folder = openFolder()
    const { data } = folder
    const older = join(folder.path, 'older')
    makeLog(data, [3, 5])
    cpSync(data, older, { recursive: true })
    await assertRefused(older, [OTHER_KEY])
    assert.match(refusalAtStart(older, { ...SIGNING, keys: [OTHER_KEY] }) ?? '', /signed with another key/)
    await assertSound(older, [TEST_KEY, OTHER_KEY])
  })
})
