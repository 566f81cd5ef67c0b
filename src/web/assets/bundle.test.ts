import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { bundle } from './bundle.ts'

suite('the bundler', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-islands-'))
  mkdirSync(join(folder, 'islands'))
  writeFileSync(join(folder, 'islands', 'one.ts'), 'export const one: number = 1')
  writeFileSync(join(folder, 'islands', 'island-whole.ts'), "import { one } from './one.ts'\nalert(one)")
  writeFileSync(join(folder, 'islands', 'island-broken.ts'), "import './absent.ts'")
  test.after(() => rmSync(folder, { recursive: true }))

  test('makes one script of an island and its imports', async () => {
    const scripts = await bundle(folder, ['islands/island-whole.ts'])
    assert.deepEqual(
      scripts.map(({ name }) => name),
      ['whole.js'],
    )
    assert.match(Buffer.from(scripts[0]?.body ?? '').toString(), /^\(\(\)=>\{alert\(1\)/)
  })

  test('reports why a script cannot be made', async () => {
    await assert.rejects(bundle(folder, ['islands/island-broken.ts']), /Could not resolve "\.\/absent\.ts"/)
  })
})
