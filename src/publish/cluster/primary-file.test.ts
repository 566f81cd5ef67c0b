import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openPrimaryFile } from './primary-file.ts'

suite('the file of the newest primary', () => {
  test('keeps what was seen over a restart, and refuses anything else', () => {
    using folder = {
      path: mkdtempSync(join(tmpdir(), 'daybook-primary-')),
      [Symbol.dispose]: () => undefined,
    }
    const path = join(folder.path, 'primary')
    assert.equal(openPrimaryFile(path).read(), null)
    for (const timeline of [1, 2]) openPrimaryFile(path).write({ systemId: '7312345678901234567', timeline })
    assert.deepEqual(openPrimaryFile(path).read(), { systemId: '7312345678901234567', timeline: 2 })
    for (const text of ['', '7312345678901234567', '7 2', 'x 2\n']) {
      writeFileSync(path, text)
      assert.throws(() => openPrimaryFile(path).read(), { name: 'EngineError', message: /names no primary/ })
    }
    rmSync(folder.path, { recursive: true })
  })
})
