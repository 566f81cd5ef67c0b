import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { markHighWater } from '../../src/log/store/high-water.ts'
import { CARRIED } from '../../src/log/store/identity-rows.ts'
import { storePath } from '../../src/log/store/store.ts'
import { removeStore } from '../../src/log/store/store-files.ts'
import { changeKeys, newestCheckpoint } from '../../src/log/tree/ready-log.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import { run } from '../stage/command-stage.ts'
import { change, makeLog, openFolder, publishUpTo, runCheck, writeKey } from '../story/damaged-log.ts'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import { runRestore } from './restore-stage.ts'

/**
 * The directory of a node that had two events, of which the table that carries its log has both, without its store, and a
 * backup with the first of them. The newest tree is signed with these keys.
 */
function lostNode(
  path: string,
  keys: readonly SigningKey[] = [TEST_KEY],
): Readonly<{ data: string; backup: string }> {
  const data = join(path, 'data')
  const backup = join(path, 'backup.db')
  makeLog(data, [1])
  change(data, (db) => {
    db.prepare('INSERT INTO meta VALUES (?, ?)').run(CARRIED.place, '2')
    db.prepare('VACUUM INTO ?').run(backup)
    changeKeys(db, { keys, acceptNewKey: false })
  })
  publishUpTo(data, [2], keys)
  change(data, (db) => {
    db.prepare('UPDATE meta SET value = ? WHERE key = ?').run('3', CARRIED.place)
    markHighWater(data, newestCheckpoint(db))
  })
  removeStore(storePath(data))
  return { data, backup }
}

const BEHIND = /^(?:note +high-water +)?seq 2: .* was published up to seq 2: .*; its table has the rest$/m

suite('a restored node of a log that a table carries', () => {
  test('passes the check that the restore names, although it is behind its table', async () => {
    using folder = openFolder()
    const { data, backup } = lostNode(folder.path)
    const restored = await runRestore(backup, data)
    assert.equal(restored.code, 0, restored.said)
    assert.match(restored.said, /^next: daybook check --data \S+$/m)
    const { code, said } = await runCheck(data, [])
    assert.equal(code, 0, said)
    assert.match(said, BEHIND)
    const { stdout } = await run(['doctor', '--data', data])
    assert.match(stdout, BEHIND)
    assert.doesNotMatch(stdout, /^wrong +high-water/m)
  })

  test('is restored with a key that signs the log since the backup was made', async () => {
    using folder = openFolder()
    const { data, backup } = lostNode(folder.path, [TEST_KEY, OTHER_KEY])
    const added = join(folder.path, 'added.key')
    writeKey(added, OTHER_KEY)
    const restored = await runRestore(backup, data, false, [added])
    assert.equal(restored.code, 0, restored.said)
    const { stdout } = await run(['doctor', '--data', data, '--signing-key-file', added])
    assert.match(stdout, BEHIND)
  })

  test('fails it once no table has the rest', async () => {
    using folder = openFolder()
    const { data, backup } = lostNode(folder.path)
    await runRestore(backup, data)
    change(data, (db) => db.prepare('DELETE FROM meta WHERE key = ?').run(CARRIED.place))
    const { code, said } = await runCheck(data, [])
    assert.equal(code, 1)
    assert.doesNotMatch(said, /has the rest/)
    assert.match((await run(['doctor', '--data', data])).stdout, /^wrong +high-water +seq 2: /m)
  })
})
