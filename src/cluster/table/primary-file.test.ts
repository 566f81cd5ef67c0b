import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openPrimaryFile, type PrimaryFile } from './primary-file.ts'

suite('the file of the newest primary', () => {
  test('keeps what was seen over a restart, and refuses anything else', () => {
    using folder = {
      path: mkdtempSync(join(tmpdir(), 'daybook-primary-')),
      [Symbol.dispose]: () => undefined,
    }
    const open = (): PrimaryFile => openPrimaryFile(folder.path)
    assert.equal(open().read(), null)
    for (const timeline of [1, 2]) open().write({ systemId: '7312345678901234567', timeline })
    assert.deepEqual(open().read(), { systemId: '7312345678901234567', timeline: 2 })
    for (const text of ['', '7312345678901234567', '7 2', 'x 2\n']) {
      writeFileSync(join(folder.path, 'primary'), text)
      assert.throws(() => open().read(), { name: 'TableError', message: /names no primary/ })
    }
    open().forget()
    assert.equal(open().read(), null)
    rmSync(folder.path, { recursive: true })
  })
})
