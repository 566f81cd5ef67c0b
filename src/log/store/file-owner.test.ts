import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { skipUnless } from '../../../test/stage/test-needs.ts'
import { giveOwnerAndMode } from './file-owner.ts'

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
        const [given, wanted] = [statSync(path), statSync(like)]
        assert.deepEqual([given.mode & 0o777, given.uid, given.gid], [to, wanted.uid, wanted.gid])
      }
      symlinkSync(path, link)
      assert.throws(() => giveOwnerAndMode(link, like))
    })
  },
)
