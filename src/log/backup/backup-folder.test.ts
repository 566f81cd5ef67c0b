import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openDirectory } from '../../../test/story/store-run.ts'
import { msOf } from '../../protocol/moment.ts'
import { SCHEMA_VERSION } from '../store/store-schema.ts'
import { readStoreIdentity, storePath } from '../store/store.ts'
import { backupName, backupsIn } from './backup-folder.ts'

const day = (number: number) => msOf(Date.UTC(2026, 0, number))

suite('the backups in a folder', () => {
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
