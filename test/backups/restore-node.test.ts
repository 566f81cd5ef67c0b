import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { markHighWater } from '../../src/log/store/high-water.ts'
import { clearPosition } from '../../src/log/stream/engine-position.ts'
import { changeKeys, newestCheckpoint } from '../../src/log/tree/ready-log.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openCluster } from '../messages/book-cluster.ts'
import { run } from '../stage/command-stage.ts'
import { change, openFolder, runCheck, writeKey } from '../story/damaged-log.ts'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import { tradeDraft } from '../story/trade-draft.ts'
import { runRestore } from './restore-stage.ts'

/**
 * The directory of a node that published two events, without its store, and a backup with the first of them. The newest
 * tree is signed with these keys.
 */
async function lostNode(
  path: string,
  keys: readonly SigningKey[] = [TEST_KEY],
): Promise<Readonly<{ data: string; backup: string }>> {
  using cluster = openCluster({ nodes: 2, asksChain: false, balances: 'report', now: () => msOf(0) })
  const [ahead, behind] = [cluster.node(0), cluster.node(1)]
  for (const ref of ['a', 'b']) await ahead.queue().submit([tradeDraft(ref)])
  await ahead.endWriting()
  cluster.follow(1, 1)
  const data = join(path, 'data')
  const backup = join(path, 'backup.db')
  mkdirSync(data)
  behind.db().prepare('VACUUM INTO ?').run(backup)
  changeKeys(ahead.db(), { keys, acceptNewKey: false })
  markHighWater(data, newestCheckpoint(ahead.db()))
  return { data, backup }
}

const BEHIND = /^(?:note +high-water +)?seq 2: .* was published up to seq 2: .*; its engine has the rest$/m

suite('a restored node of a log on an engine', () => {
  test('passes the check that the restore names, although it is behind its engine', async () => {
    using folder = openFolder()
    const { data, backup } = await lostNode(folder.path)
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
    const { data, backup } = await lostNode(folder.path, [TEST_KEY, OTHER_KEY])
    const added = join(folder.path, 'added.key')
    writeKey(added, OTHER_KEY)
    const restored = await runRestore(backup, data, false, [added])
    assert.equal(restored.code, 0, restored.said)
    const { stdout } = await run(['doctor', '--data', data, '--signing-key-file', added])
    assert.match(stdout, BEHIND)
  })

  test('fails it once no engine has the rest', async () => {
    using folder = openFolder()
    const { data, backup } = await lostNode(folder.path)
    await runRestore(backup, data)
    change(data, clearPosition)
    const { code, said } = await runCheck(data, [])
    assert.equal(code, 1)
    assert.doesNotMatch(said, /engine/)
    assert.match((await run(['doctor', '--data', data])).stdout, /^wrong +high-water +seq 2: /m)
  })
})
