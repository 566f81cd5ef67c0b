import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { skipWithout } from '../processes/test-needs.ts'
import { openFolder } from '../story/damaged-log.ts'
import { countedCalls, shimEnv } from '../torture/store/io-shim.ts'

/** Keeps evidence of each kind, and makes the state of a witness, each in a data directory of its own below `root`. */
function keepAll(root: string): string {
  const of = (path: string): string => JSON.stringify(import.meta.resolve(`../../src/${path}`))
  const data = (name: string): string => JSON.stringify(join(root, name))
  return `
    const { ContradictionError, keepEvidence } = await import(${of('mirror/proof/contradiction.ts')})
    keepEvidence(${data('mirror')}, new ContradictionError('another tree', { 'one.note': 'one' }), 0)
    const { keepContradiction } = await import(${of('witness/cosigner/cosigner.ts')})
    keepContradiction(${data('witness')}, { originHash: 'ab', size: 1, first: 'one', second: 'two' })
    const { openStateFile } = await import(${of('witness/cosigner/state-file.ts')})
    openStateFile(${data('state')}, false)[Symbol.dispose]()`
}

suite('evidence, and the state of a witness', { skip: skipWithout('cc') }, () => {
  test('have folders whose names are on the disk', () => {
    using folder = openFolder()
    const [root, report] = [join(folder.path, 'root'), join(folder.path, 'report')]
    for (const name of ['mirror', 'witness']) mkdirSync(join(root, name), { recursive: true })
    const wish = { root, calls: ['mkdir', 'rename', 'fsync'], report, reportsAll: true } as const
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', keepAll(root)], {
      encoding: 'utf8',
      env: { ...process.env, ...shimEnv(wish) },
    })
    assert.equal(status, 0, stderr)
    const calls = countedCalls(report)
    const made = calls.filter(({ call }) => call === 'mkdir')
    for (const name of ['mirror/evidence', 'witness/evidence', 'state'])
      assert.ok(
        made.some(({ path }) => path === name),
        `${name} is made`,
      )
    for (const { path, number } of made)
      assert.ok(
        calls.some((one) => one.number > number && one.call === 'fsync' && one.path === dirname(path)),
        `the name of ${path} is synced`,
      )
  })
})
