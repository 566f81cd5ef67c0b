import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { skipWithout } from '../../../test/processes/test-needs.ts'
import { isDiskFull, PROBE_FILE } from './disk-probe.ts'
import { storePath } from './store.ts'

suite('the probe of a disk', () => {
  test(
    'finds a limit on the size of a file from where the store ends, and leaves nothing',
    { skip: skipWithout('prlimit') },
    (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'daybook-probe-'))
      t.after(() => rmSync(folder, { recursive: true }))
      const [stored, probed] = [200_000, 1024 * 1024]
      writeFileSync(storePath(folder), Buffer.alloc(stored))
      assert.equal(isDiskFull(folder, probed), false)
      const module = JSON.stringify(import.meta.resolve('./disk-probe.ts'))
      const call = `isDiskFull(${JSON.stringify(folder)}, ${probed})`
      const script = `const { isDiskFull } = await import(${module}); console.log(${call})`
      for (const [bytes, full] of [
        [stored + probed, 'false'],
        [stored + probed - 1, 'true'],
      ] as const) {
        const limited = [`--fsize=${bytes}`, process.execPath, '--input-type=module', '-e', script]
        const { stdout } = spawnSync('prlimit', limited, { encoding: 'utf8' })
        assert.equal(stdout.trim(), full, `${bytes} bytes`)
      }
      assert.equal(existsSync(join(folder, PROBE_FILE)), false)
    },
  )

  test(
    'writes about the bytes that it is asked for, however large the store is',
    { skip: skipWithout('prlimit') },
    (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'daybook-probe-'))
      t.after(() => rmSync(folder, { recursive: true }))
      writeFileSync(storePath(folder), '')
      truncateSync(storePath(folder), 64 * 1024 * 1024)
      const written = (): number => Number(/wchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
      const before = written()
      assert.equal(isDiskFull(folder, 64 * 1024), false)
      const bytes = written() - before
      assert.ok(bytes >= 64 * 1024 && bytes < 1024 * 1024, `${bytes} bytes written`)
    },
  )

  test('does not report other failures as a full disk', () => {
    assert.equal(isDiskFull('/nowhere/at/all', 1), false)
  })
})
