import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openDirectory } from '../../test/story/store-run.ts'
import { storePath } from './store/store.ts'
import { openBuildRow, openLeft } from './unfinished-store.ts'

const { read, note } = openBuildRow<{ step: number }>('test_build')

suite('the store of an interrupted build', () => {
  test('is opened again when it can be continued, with its progress, and otherwise left alone', () => {
    using directory = openDirectory()
    const path = storePath(directory.path)
    const isBegun = (db: Parameters<typeof read>[0]): boolean => read(db) !== undefined
    assert.equal(openLeft(path, isBegun), null, 'no build was begun')
    const begun = openLeft(path, () => true)
    assert.ok(begun !== null)
    note(begun, { step: 7 })
    begun.close()
    const left = openLeft(path, isBegun)
    assert.ok(left !== null)
    assert.deepEqual(read(left), { step: 7 })
    left.close()
  })

  test('is none when there is no file, a link, a file of another kind, or an error', () => {
    using directory = openDirectory()
    const path = (name: string): string => join(directory.path, name)
    symlinkSync(storePath(directory.path), path('link'))
    writeFileSync(path('text'), 'no store')
    for (const name of ['absent', 'link', 'text'])
      assert.equal(
        openLeft(path(name), () => true),
        null,
        name,
      )
    const fails = (): never => assert.fail()
    assert.equal(openLeft(storePath(directory.path), fails), null)
    assert.equal(
      openLeft(storePath(directory.path), () => true, fails),
      null,
    )
    openLeft(storePath(directory.path), () => true)?.close()
  })
})
