import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { run, start } from '../stage/command-stage.ts'

const folder = mkdtempSync(join(tmpdir(), 'daybook-serve-'))
after(() => rmSync(folder, { recursive: true }))

suite('serve with --finality', () => {
  test('makes no key, token or store when --finality is wrong', async () => {
    const parent = mkdtempSync(join(folder, 'serve-'))
    const data = join(parent, 'data')
    const finality = ['--finality', 'evm=https://rpc.example.org']
    const { code } = await run(['serve', '--data', data, '--development', ...finality])
    assert.equal(code, 2)
    assert.deepEqual(readdirSync(parent, { recursive: true }), ['data'])
  })

  test('does not crash at a stop while it waits for the servers of --finality', async () => {
    await using silent = createServer((socket) => socket.on('error', () => undefined).resume())
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const { port } = silent.address() as AddressInfo
    const data = join(mkdtempSync(join(folder, 'serve-')), 'data')
    const words = ['--port', '0', '--publish-port', '0', '--finality', `solana=http://127.0.0.1:${port}`]
    const { child, ended } = start(['serve', '--data', data, '--development', ...words])
    await Promise.race([once(silent, 'connection'), ended()])
    child.kill('SIGTERM')
    const { code, stderr } = await ended()
    assert.equal(code, 1)
    assert.match(stderr, /^daybook: the service was stopped before it had started$/m)
    assert.doesNotMatch(stderr, /crashed/)
  })
})
