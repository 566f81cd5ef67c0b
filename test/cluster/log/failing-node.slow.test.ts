import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { MAIN } from '../../stage/places.ts'
import { skipWithout } from '../../processes/test-needs.ts'
import { makeLog, openFolder } from '../../story/damaged-log.ts'
import { countedCalls, shimEnv, withShim } from '../../torture/store/io-shim.ts'

const LOG_ID = '0123456789abcdef0123456789abcdef'

suite('the disk of a node whose log is on a table', { skip: skipWithout('cc') }, () => {
  test('gives a start the code 1 when it fails, and not that of wrong usage', () => {
    using folder = openFolder()
    const { data, path } = folder
    makeLog(data, [3])
    const fail = { at: 1, error: 'ENOSPC', times: Number.MAX_SAFE_INTEGER } as const
    const [program = '', ...shim] = withShim({ root: path, calls: ['fsync'], files: ['.'], fail })
    const table = ['--log-store', 'postgres://daybook@127.0.0.1:9/log']
    const words = ['serve', '--data', data, '--port', '0', '--publish-port', '0', ...table]
    const ended = spawnSync(program, [...shim, process.execPath, MAIN, ...words], { encoding: 'utf8' })
    assert.match(ended.stderr, /^daybook: the names of the files in \S+ cannot be made durable: ENOSPC/m)
    assert.equal(ended.status, 1)
  })

  test('has the names of the evidence of a fork when they are kept', () => {
    using folder = openFolder()
    const [root, report] = [join(folder.path, 'root'), join(folder.path, 'report')]
    mkdirSync(join(root, 'node'), { recursive: true })
    const module = JSON.stringify(import.meta.resolve('../../../src/cluster/log/evidence-folder.ts'))
    const script = `const { openEvidence } = await import(${module})
      const row = (text) => ({ place: 1, bytes: Buffer.from(text) })
      openEvidence(${JSON.stringify(join(root, 'node'))}, '${LOG_ID}').keep({ ours: [row('one')], table: [row('two')] })`
    const wish = { root, calls: ['mkdir', 'rename', 'fsync'], report, reportsAll: true } as const
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { ...process.env, ...shimEnv(wish) },
    })
    assert.equal(status, 0, stderr)
    const calls = countedCalls(report)
    const made = calls.find(({ call, path }) => call === 'mkdir' && path === 'node/evidence')
    assert.ok(made !== undefined, 'the folder is made')
    assert.ok(
      calls.some(
        (one) => one.number > made.number && one.call === 'fsync' && one.path === dirname(made.path),
      ),
      'its name is synced',
    )
  })
})
