import assert from 'node:assert/strict'
import { copyFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { defaultKeyFile } from '../../src/command/operator/signing-key-file.ts'
import { storePath } from '../../src/log/store/store.ts'
import { makeLog, type openFolder, refusalAtStart, SIGNING, writeKey } from './damaged-log.ts'
import { OTHER_KEY, TEST_KEY } from './signing.ts'

/** Adds a key to those that sign a log, as a start with both does, and publishes nothing. Returns the files of both. */
export function addKey(data: string, path: string): readonly string[] {
  const added = join(path, 'added.key')
  writeKey(added, OTHER_KEY)
  assert.equal(refusalAtStart(data, { ...SIGNING, keys: [TEST_KEY, OTHER_KEY] }), undefined)
  return [defaultKeyFile(data), added]
}

/** Makes a log that another key signs too since its store was copied, with that copy. Returns the files of both keys. */
export function makeLogBeforeKey({ data, path }: ReturnType<typeof openFolder>): readonly string[] {
  makeLog(data, [3, 10])
  const copy = join(path, 'copy.db')
  copyFileSync(storePath(data), copy)
  const keyFiles = addKey(data, path)
  renameSync(copy, storePath(data))
  return keyFiles
}
