import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { openCursorFile } from './cursor-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'daybook-cursor-'))
after(() => rmSync(folder, { recursive: true }))

suite('a cursor file', () => {
  test('has each cursor at once, but one a second of those that others follow, and the last at the end', () => {
    const path = join(folder, 'cursor')
    let nowMs = 0
    const file = openCursorFile(path, () => nowMs)
    const save = (seq: number, isFollowed: boolean): number => {
      file.save({ log: 'a', seq }, isFollowed)
      return JSON.parse(readFileSync(path, 'utf8')).seq
    }
    assert.equal(file.saved, null)
    assert.equal(save(1, true), 1)
    nowMs = 999
    assert.equal(save(2, true), 1)
    nowMs = 1_000
    assert.equal(save(3, true), 3)
    assert.equal(save(4, true), 3)
    assert.equal(save(5, false), 5)
    assert.equal(save(6, true), 5)
    file[Symbol.dispose]()
    assert.deepEqual(openCursorFile(path, () => nowMs).saved, { log: 'a', seq: 6 })
    assert.equal(existsSync(`${path}.next`), false)
  })
})
