import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { createDurably, makeFolderDurably } from './durable-rename.ts'

suite('a file that is made durably', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-durable-'))
  test.after(() => rmSync(folder, { recursive: true }))

  test('has its name when it is complete, is its owner’s only, and leaves no other file', () => {
    const path = join(folder, 'file')
    createDurably(path, 'content')
    assert.equal(readFileSync(path, 'utf8'), 'content')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(folder), ['file'])
  })

  test('never replaces another file', () => {
    const path = join(folder, 'file')
    assert.throws(() => createDurably(path, 'other'), { code: 'EEXIST' })
    assert.equal(readFileSync(path, 'utf8'), 'content')
    assert.deepEqual(readdirSync(folder), ['file'])
  })

  test('has a folder that may be made with its parents, and may exist', () => {
    const path = join(folder, 'one', 'two')
    for (let times = 0; times < 2; times += 1) makeFolderDurably(path)
    assert.ok(existsSync(path))
  })
})
