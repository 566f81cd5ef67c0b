import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openDirectory } from '../../../test/story/store-run.ts'
import { HOUR_MS, msOf } from '../../protocol/moment.ts'
import { SCHEMA_VERSION } from '../store/store-schema.ts'
import { readStoreIdentity, storePath } from '../store/store.ts'
import { backupName, backupsIn, removeOldBackups } from './backup-folder.ts'

const day = (number: number) => msOf(Date.UTC(2026, 0, number))

suite('the backups in a folder', () => {
  test('are removed when they are older than the newest days with one, of their own log alone', () => {
    for (const [days, newest, kept] of [
      [1, 5, [5, 4]],
      [2, 5, [5, 4, 3]],
      [2, 1, [5, 4, 3, 1]],
      [3, 5, [5, 4, 3, 2, 1]],
      [9, 5, [5, 4, 3, 2, 1]],
    ] as const) {
      using directory = openDirectory()
      using stranger = openDirectory()
      const { id } = readStoreIdentity(directory.path)
      const folder = join(directory.path, 'backups')
      mkdirSync(folder)
      // Two of the newest day, one of a day long before, and two of the day before that.
      const hours = [1, 2, 100, 1_000, 1_001]
      const pathOf = (number: number): string =>
        join(folder, backupName(id, msOf(Date.UTC(2026, 0, 1) + (hours[number - 1] ?? 0) * HOUR_MS)))
      for (const number of [1, 2, 3, 4, 5]) copyFileSync(storePath(directory.path), pathOf(number))
      const foreign = join(folder, backupName(readStoreIdentity(stranger.path).id, day(1)))
      copyFileSync(storePath(stranger.path), foreign)
      const removed = removeOldBackups(folder, { logId: id, days, newest: pathOf(newest) })
      const left = [...backupsIn(folder)].map(({ path }) => path).filter((path) => path !== foreign)
      assert.deepEqual(left, kept.map(pathOf))
      assert.deepEqual(
        removed,
        [5, 4, 3, 2, 1].filter((number) => !kept.some((one) => one === number)).map(pathOf),
      )
      assert.ok(existsSync(foreign))
    }
  })

  test('are the files of that name, the newest first, and only a store that is an ordinary file has content', () => {
    using directory = openDirectory()
    const { id, origin } = readStoreIdentity(directory.path)
    const folder = join(directory.path, 'backups')
    const pathOf = (number: number): string => join(folder, backupName(id, day(number)))
    mkdirSync(folder)
    copyFileSync(storePath(directory.path), pathOf(1))
    symlinkSync(pathOf(1), pathOf(2))
    mkdirSync(pathOf(3))
    writeFileSync(pathOf(4), 'no store')
    copyFileSync(storePath(directory.path), pathOf(5))
    copyFileSync(storePath(directory.path), join(folder, 'other.db'))
    const content = { log: id, origin, schema: SCHEMA_VERSION, events: 0 }
    assert.deepEqual(
      [...backupsIn(folder)],
      [5, 4, 3, 2, 1].map((number) => ({
        path: pathOf(number),
        atMs: day(number),
        content: number === 1 || number === 5 ? content : null,
      })),
    )
  })
})
