import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { createDurably, makeFolderDurably } from './durable-rename.ts'
import { skipUnless } from '../../../test/processes/test-needs.ts'
import { giveOwnerAndMode } from './file-owner.ts'

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

const isRoot = process.getuid?.() === 0

suite(
  'a file that takes the place of another',
  { skip: skipUnless(process.platform !== 'win32', 'file modes') },
  () => {
    test('gets its mode, and from root its owner too, but never through a link', (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'daybook-owner-'))
      t.after(() => rmSync(folder, { recursive: true }))
      const [path, like, link] = ['path', 'like', 'link'].map((name) => join(folder, name))
      assert.ok(path !== undefined && like !== undefined && link !== undefined)
      for (const file of [path, like]) writeFileSync(file, '')
      for (const [from, to] of [
        [0o600, 0o640],
        [0o644, 0o600],
      ] as const) {
        chmodSync(path, from)
        chmodSync(like, to)
        if (isRoot) chownSync(like, 1_234, 5_678)
        giveOwnerAndMode(path, like)
        const given: Stats = statSync(path)
        const wanted: Stats = statSync(like)
        assert.deepEqual([given.mode & 0o777, given.uid, given.gid], [to, wanted.uid, wanted.gid])
      }
      symlinkSync(path, link)
      assert.throws(() => giveOwnerAndMode(link, like))
    })
  },
)
