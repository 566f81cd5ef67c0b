import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import { newLogId, openForWriting, StoreError, storePath } from '../../src/log/store/store.ts'
import { readyLog } from '../../src/log/tree/ready-log.ts'
import { openBuildingMirror } from '../../src/mirror/book/building-mirror.ts'
import { openNewStore } from '../../src/publish/import/import-store.ts'
import { NEW_LOG, openFolder, publishUpTo, SIGNING } from '../story/damaged-log.ts'

const JOURNAL = 'daybook.db-wal'

/** The directory of a killed service whose store is gone: its events are in the write-ahead log only. */
function makeLeft(path: string): string {
  const [data, left] = [join(path, 'data'), join(path, 'left')]
  readyLog(data, NEW_LOG, SIGNING)
  using _open = openForWriting(storePath(data))
  publishUpTo(data, [6])
  cpSync(data, left, { recursive: true })
  rmSync(storePath(left))
  return left
}

const filesOf = (folder: string): readonly (readonly [name: string, content: Buffer])[] =>
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))])

const refusal = (left: string, name = JOURNAL): StoreError =>
  new StoreError(
    `${join(left, name)} is from a store that no longer exists: restore a backup, or move it away`,
  )

suite('a write-ahead log that is left without its store', () => {
  test('is not taken over by the store of a new log, nor removed', () => {
    using folder = openFolder()
    const left = makeLeft(folder.path)
    const start = (acceptLoss: boolean) => (): void => readyLog(left, NEW_LOG, { ...SIGNING, acceptLoss })
    const before = filesOf(left)
    assert.throws(start(false), /the store is gone, and a log was published from it/)
    assert.throws(start(true), refusal(left))
    assert.deepEqual(filesOf(left), before)
    rmSync(join(left, HIGH_WATER_FILE))
    assert.throws(start(false), refusal(left))
    assert.deepEqual(
      filesOf(left),
      before.filter(([name]) => name !== HIGH_WATER_FILE),
    )
  })

  test('is not taken over by an import or a mirror, which then build nothing', async () => {
    using folder = openFolder()
    const left = makeLeft(folder.path)
    rmSync(join(left, HIGH_WATER_FILE))
    const before = filesOf(left)
    await assert.rejects(openNewStore(left, NEW_LOG, SIGNING.keys), refusal(left))
    const identity = { ...NEW_LOG, id: newLogId(), former: [] }
    const mirror = { of: 'https://daybook.test', pins: { vkeys: [], firstUse: true } }
    assert.throws(() => openBuildingMirror(left, '0.0.0', identity, mirror), refusal(left))
    assert.deepEqual(filesOf(left), before)
  })

  test('is ignored when it is empty; a rollback journal is not', () => {
    using folder = openFolder()
    const left = makeLeft(folder.path)
    for (const name of readdirSync(left)) rmSync(join(left, name))
    writeFileSync(join(left, JOURNAL), '')
    writeFileSync(`${storePath(left)}-journal`, 'pages of a store')
    assert.throws(() => readyLog(left, NEW_LOG, SIGNING), refusal(left, 'daybook.db-journal'))
    rmSync(`${storePath(left)}-journal`)
    readyLog(left, NEW_LOG, SIGNING)
  })
})
