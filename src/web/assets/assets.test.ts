import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { BUNDLED, openAssets, openScripts } from './assets.ts'

suite('the files that pages load', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-assets-'))
  test.after(() => rmSync(folder, { recursive: true }))

  test('are made once, and made again where making them failed', async () => {
    const assets = openAssets(openScripts(folder), folder)
    await assert.rejects(assets(), /style\.css/)
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'assets', 'style.css'), 'body {}')
    mkdirSync(join(folder, BUNDLED))
    const made = await assets()
    assert.match(made.path('style.css'), /^\/assets\/style\.[0-9a-f]+\.css$/)
    assert.equal(await assets(), made)
  })
})
