import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { readyLog } from '../../../src/log/tree/ready-log.ts'
import { run } from '../../stage/command-stage.ts'
import { TEST_KEY } from '../../story/signing.ts'

const folder = mkdtempSync(join(tmpdir(), 'daybook-input-'))
after(() => rmSync(folder, { recursive: true }))
const data = join(folder, 'data')
const keyFile = `${data}.key`
writeFileSync(keyFile, TEST_KEY.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
const newLog = { origin: 'daybook.test/input', chain: 'opaque', simulated: false } as const
readyLog(data, newLog, { keys: [TEST_KEY], acceptNewKey: false, acceptLoss: false })
const token = join(folder, 'token')
writeFileSync(token, 'a-token-of-tests-that-is-long-enough-0123456789', { mode: 0o600 })

/** Nothing listens on the discard port. */
const AWAY = 'postgres://daybook@127.0.0.1:9/book?sslmode=disable'

/** Addresses that cannot be read, with parts that no message may repeat. */
const WRONG_URLS = [
  'redis://secret-host',
  'secret-host',
  'postgres://secret-user:secret-word@secret-host/secret-base?x=secret',
  'postgres://secret-host:port/secret-base',
  'postgres://secret-host/secret-base?sslmode=secret',
  'postgres://secret-host/secret-base?connect_timeout=secret',
  'postgres://secret-user:%zz-secret@secret-host/secret-base',
]

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  serve: ['serve', '--data', data, '--port', '0', '--publish-port', '0', '--signing-key-file', keyFile],
  move: ['cluster', 'move', '--data', data],
  'move --back': ['cluster', 'move', '--back', '--data', data],
  check: ['cluster', 'check'],
}

async function refused(words: readonly string[], expected: RegExp, code = 2): Promise<void> {
  const result = await run(words)
  const shown = words.slice(0, 3).join(' ')
  assert.equal(result.code, code, `${shown}: ${result.stderr}`)
  assert.match(result.stderr, expected, shown)
  assert.doesNotMatch(result.stdout + result.stderr, /secret/, shown)
}

suite('bad input of a command that uses the table of a log', () => {
  for (const [name, words] of Object.entries(COMMANDS)) {
    test(`is refused by ${name} with words that repeat no address`, async () => {
      for (const url of WRONG_URLS) await refused([...words, '--log-store', url], /--log-store: /)
      const missing = ['--log-store-credentials', join(folder, 'no-such-file')]
      await refused([...words, '--log-store', AWAY, ...missing], /--log-store-credentials: .* cannot be read/)
      await refused([...words, '--single-database'], /need --log-store/)
      await refused([...words, ...missing], /need --log-store/)
      if (name !== 'serve') await refused(words, /give the address of the database with --log-store/)
    })
  }

  test('names a database that is away, with code 1 where nobody waits for it', async () => {
    for (const name of ['move', 'check'])
      await refused([...(COMMANDS[name] ?? []), '--log-store', AWAY], /127\.0\.0\.1:9/, 1)
    await refused([...(COMMANDS['move --back'] ?? []), '--log-store', AWAY], /no table carries this log/, 1)
  })

  test('is refused when the directory has no log or no key', async () => {
    const nothing = join(folder, 'nothing')
    for (const words of [
      ['cluster', 'move', '--log-store', AWAY, '--data', nothing],
      ['cluster', 'check', '--log-store', AWAY, '--data', nothing],
      ['cluster', 'lost', '--data', nothing],
    ])
      await refused(words, /./)
    assert.ok(!existsSync(nothing))
    const keyless = join(folder, 'keyless')
    readyLog(keyless, newLog, { keys: [TEST_KEY], acceptNewKey: false, acceptLoss: false })
    await refused(['cluster', 'move', '--log-store', AWAY, '--data', keyless], /key/)
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    await refused(
      ['serve', '--data', empty, '--log-store', AWAY, '--port', '0', '--publish-port', '0'],
      /key/,
    )
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('empty')),
      ['empty'],
    )
  })

  test('is refused when an option of serve would change the log of all nodes', async () => {
    const serve = [...(COMMANDS['serve'] ?? []), '--log-store', AWAY]
    for (const flag of [
      ['--accept-loss'],
      ['--accept-new-key'],
      ['--development'],
      ['--upgrade'],
      ['--origin', 'a.example/x'],
    ])
      await refused(
        [...serve, ...flag],
        new RegExp(`${flag[0]} changes the log, which is the same on all nodes`),
      )
  })

  test('is refused by keys: no key, no token, a publish API that is none', async () => {
    const keys = ['cluster', 'keys']
    await refused(keys, /missing required argument|required option/)
    await refused([...keys, 'secret-key'], /--token-file/)
    await refused([...keys, '--token-file', join(folder, 'no-file'), 'secret-key'], /token/)
    await refused([...keys, '--token-file', token, '--to', 'ftp://secret-host', 'secret-key'], /--to/)
  })

  test('is refused by move and its parts: options that need each other, words that are too many', async () => {
    const move = [...(COMMANDS['move'] ?? []), '--log-store', AWAY]
    await refused([...move, 'secret'], /too many arguments/)
    await refused(['cluster', 'roll'], /unknown command/)
  })
})

suite('cluster init', () => {
  test('prints the SQL of the table and of a role with the given name', async () => {
    const { code, stdout } = await run(['cluster', 'init', 'book', '--role', 'nodes'])
    assert.equal(code, 0)
    assert.match(stdout, /^BEGIN;\n[^]*CREATE TABLE public\.daybook_log[^]*TO nodes;\nCOMMIT;\n$/)
    assert.doesNotMatch(stdout, /UPDATE|DELETE|SUPERUSER/)
  })

  test('refuses names that need quotes, without repeating them', async () => {
    for (const words of [
      ['secret book'],
      ['Secret'],
      ["secret'; DROP"],
      ['book', '--role', 'secret-role'],
      [''],
    ])
      await refused(['cluster', 'init', ...words], /names of role and database have a-z, 0-9 and _ only/)
    await refused(['cluster', 'init'], /missing required argument/)
  })
})
