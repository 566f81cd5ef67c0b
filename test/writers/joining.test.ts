import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { run, start } from '../stage/command-stage.ts'
import { TEST_KEY } from '../story/signing.ts'

const folder = mkdtempSync(join(tmpdir(), 'daybook-joining-'))
const keyFile = join(folder, 'log.key')
writeFileSync(keyFile, TEST_KEY.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
after(() => rmSync(folder, { recursive: true }))

/** Nothing listens on the discard port. */
const AWAY = 'nats://127.0.0.1:9'
const data = join(folder, 'data')
const serve = (...more: readonly string[]): readonly string[] => [
  'serve',
  '--data',
  data,
  '--port',
  '0',
  '--publish-port',
  '0',
  ...more,
]

suite('serve --log-store', () => {
  test('waits for an engine that is away, and ends at a signal without a store', async () => {
    const { child, says, ended } = start(serve('--log-store', AWAY, '--signing-key-file', keyFile))
    await says(/"fact":"engine-away"/)
    child.kill('SIGTERM')
    const { code, stderr } = await ended()
    assert.equal(code, 1)
    assert.match(stderr, /the service was stopped before it had started/)
    assert.equal(existsSync(join(data, 'daybook.db')), false)
  })

  test('refuses options that would change the log of all nodes', async () => {
    for (const flag of [
      ['--accept-loss'],
      ['--accept-new-key'],
      ['--development'],
      ['--origin', 'a.example/x'],
    ]) {
      const { code, stderr } = await run(serve('--log-store', AWAY, '--signing-key-file', keyFile, ...flag))
      assert.equal(code, 2, stderr)
      assert.ok(stderr.includes(`${flag[0]} changes the log`), stderr)
    }
  })

  test('refuses an address that it cannot read, and never repeats it', async () => {
    const wrong: readonly (readonly string[])[] = [
      ['--log-store', 'redis://secret-host'],
      ['--log-store', 'nats://secret-user@secret-host'],
      ['--log-store', 'postgres://secret-user:secret-word@secret-host/secret-base?x=y'],
      ['--log-store', AWAY, '--single-database'],
      ['--log-store', AWAY, '--node-name', 'two words'],
      ['--log-store', AWAY, '--log-store-credentials', join(folder, 'nothing')],
      ['--single-database'],
    ]
    for (const words of wrong) {
      const { code, stderr } = await run(serve('--signing-key-file', keyFile, ...words))
      assert.equal(code, 2, stderr)
      assert.doesNotMatch(stderr, /secret/)
    }
  })

  test('makes no key: every writer has that of the log', async () => {
    const { code, stderr } = await run(serve('--log-store', AWAY))
    assert.equal(code, 2)
    assert.match(stderr, /every writer of a log has its key/)
    assert.equal(existsSync(`${data}.key`), false)
  })
})
