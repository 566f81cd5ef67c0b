import assert from 'node:assert/strict'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import { OLDEST_SCHEMA } from '../../src/log/store/store-schema.ts'
import { storePath } from '../../src/log/store/store.ts'
import { backedUp, runRestore } from './restore-stage.ts'
import { unpackKept } from '../books/kept-store.ts'
import { skipUnless } from '../processes/test-needs.ts'
import { makeLog, openFolder, publishUpTo, runBackup } from '../story/damaged-log.ts'
import { upgrade } from '../upgrade/upgrade-stage.ts'

/** Ids of a user and a group without a name. */
const USER = 61_234
const GROUP = 61_235

/** Gives a folder and all files in it to the user. */
function give(folder: string): void {
  chownSync(folder, USER, GROUP)
  for (const name of readdirSync(folder)) chownSync(join(folder, name), USER, GROUP)
}

/** The files of a folder that do not belong to the user. */
function foreign(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => {
    const { uid, gid } = statSync(join(folder, name))
    return uid !== USER || gid !== GROUP
  })
}

suite('root', { skip: skipUnless(process.getuid?.() === 0, 'root') }, () => {
  test('upgrades a store of another user, who owns everything afterwards, with the old mode', async () => {
    using kept = unpackKept(OLDEST_SCHEMA)
    chmodSync(storePath(kept.data), 0o640)
    give(kept.data)
    const seen = new Set<string>()
    await upgrade(kept.data, { onProgress: () => foreign(kept.data).forEach((name) => seen.add(name)) })
    assert.deepEqual([...seen, ...foreign(kept.data)], [])
    assert.equal(statSync(storePath(kept.data)).mode & 0o777, 0o640)
  })

  test('backs up a log of another user into his folder, and restores it, and he owns all of it', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3, 10])
    give(folder.data)
    const backups = join(folder.path, 'backups')
    mkdirSync(backups)
    give(backups)
    const made = await runBackup(folder.data, `${backups}/`)
    assert.equal(made.code, 0, made.said)
    assert.deepEqual([...foreign(folder.data), ...foreign(backups)], [])
    const restored = await runRestore(backups, folder.data)
    assert.equal(restored.code, 0, restored.said)
    assert.deepEqual(foreign(folder.data), [])
  })

  test('restores less than was published, and the user owns the high-water mark that tells of it', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backups } = await backedUp(data, folder.path)
    publishUpTo(data, [20])
    rmSync(join(data, HIGH_WATER_FILE))
    give(data)
    const restored = await runRestore(backups, data, true)
    assert.equal(restored.code, 0, restored.said)
    assert.ok(existsSync(join(data, HIGH_WATER_FILE)))
    assert.deepEqual(foreign(data), [])
  })
})
