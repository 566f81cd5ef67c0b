import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { MS_MAX, msOf } from '../../protocol/moment.ts'
import { formatSealed, parseSealed } from '../store/sealed-json.ts'
import { LAST_BACKUP_FILE, readLastBackup, writeLastBackup } from './last-backup.ts'
import * as fc from 'fast-check'

const LAST = { at: msOf(1_790_000_000_000), verifiedAt: msOf(1_790_000_001_000), events: 12, bytes: 40_960 }

suite('the description of the last backup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-last-backup-'))
  const path = join(folder, LAST_BACKUP_FILE)
  test.after(() => rmSync(folder, { recursive: true }))

  test('is absent before the first backup', () => assert.equal(readLastBackup(folder), null))

  test('is replaced by each backup, in a file that only its owner may read', () => {
    writeLastBackup(folder, { ...LAST, events: 11 })
    writeLastBackup(folder, LAST)
    assert.deepEqual(readLastBackup(folder), LAST)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(folder), [LAST_BACKUP_FILE])
  })

  test('is absent when something else wrote the file', () => {
    for (const words of ['', '{', 'null', '[1]', '{"at":1}', JSON.stringify({ ...LAST, at: '2026' })]) {
      writeFileSync(path, words)
      assert.equal(readLastBackup(folder), null, words)
    }
    // Their digests are right. A moment may be that of the last millisecond of the year 9999.
    const names = ['at', 'verifiedAt', 'events', 'bytes'] as const
    for (const name of names)
      for (const wrong of [undefined, null, '12', -1, 0.5, 2 ** 53]) {
        writeFileSync(path, formatSealed({ ...LAST, [name]: wrong }))
        assert.equal(readLastBackup(folder), null, `${name} ${wrong}`)
      }
    for (const name of ['at', 'verifiedAt'] as const) {
      writeFileSync(path, formatSealed({ ...LAST, [name]: MS_MAX + 1 }))
      assert.equal(readLastBackup(folder), null, name)
      writeFileSync(path, formatSealed({ ...LAST, [name]: MS_MAX }))
      assert.deepEqual(readLastBackup(folder), { ...LAST, [name]: MS_MAX })
    }
    rmSync(path)
    mkdirSync(path)
    assert.equal(readLastBackup(folder), null, 'a folder of that name')
  })
})

suite('sealed JSON', () => {
  test('is parsed as it was formatted', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.deepEqual(parseSealed(Buffer.from(formatSealed(value))), JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('with any bit flipped, cut or added is none', () => {
    const whole = Buffer.from(formatSealed({ words: 'täglich', number: 12 }))
    for (let at = 0; at < whole.length; at += 1) {
      for (const bit of [1, 32]) {
        const flipped = Buffer.from(whole)
        flipped[at] = (flipped[at] ?? 0) ^ bit
        assert.equal(parseSealed(flipped), undefined, `byte ${at}`)
      }
      assert.equal(parseSealed(whole.subarray(0, at)), undefined)
    }
    assert.equal(parseSealed(Buffer.concat([whole, Buffer.from('\n')])), undefined)
  })
})
