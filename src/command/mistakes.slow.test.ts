import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { skipUnless, skipWithout } from '../../test/processes/test-needs.ts'
import { createStore, storePath } from '../log/store/store.ts'
import { MAIN } from '../../test/stage/places.ts'

/** Time after which a command counts as hanging, because it has left something open. */
const END_MS_MAX = 60_000

type Ended = Readonly<{ code: unknown; said: string }>

function daybook(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { timeout: END_MS_MAX },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : (error.code ?? error.signal), said: stdout + stderr }),
    )
    child.stdin?.end()
  })
}

/** Whether the output is one line of plain text: no stack, no JSON. */
function isOneLine({ said }: Ended): boolean {
  return /^daybook: [^\n]+\n$/.test(said)
}

suite('a mistake of the user is reported in one line', () => {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-mistakes-'))
  const at = (name: string): string => join(directory, name)
  const token = at('token')
  const line = at('line.jsonl')

  test.before(() => {
    writeFileSync(token, `${'t'.repeat(40)}\n`)
    writeFileSync(line, '{}\n')
    writeFileSync(at('file'), 'no directory')
    for (const [name, bytes] of BAD_FILES) writeFileSync(at(name), bytes, { mode: 0o600 })
    createStore(storePath(at('broken')), { origin: 'daybook.test', chain: 'solana', simulated: false })
    writeFileSync(storePath(at('broken')), 'no store at all, but a text of some length')
    createStore(storePath(at('newer')), { origin: 'daybook.test', chain: 'solana', simulated: true })
    createStore(storePath(at('real')), { origin: 'daybook.test', chain: 'solana', simulated: false })
    const newer = new DatabaseSync(storePath(at('newer')))
    newer.exec('PRAGMA user_version = 1000')
    newer.close()
  })
  test.after(() => rmSync(directory, { recursive: true }))

  /** Files with NUL bytes, with nothing, and with bytes of no text. */
  const BAD_FILES = [
    ['nul', Buffer.alloc(64)],
    ['empty', ''],
    ['garbage', Buffer.from('ff'.repeat(64), 'hex')],
  ] as const
  const ports = ['--port', '0', '--publish-port', '0']
  const table: readonly (readonly [what: string, code: 1 | 2, args: readonly string[]])[] = [
    ['a data directory that is a file', 2, ['serve', '--data', at('file'), '--development', ...ports]],
    ['a new log without a name', 2, ['serve', '--data', at('new'), ...ports]],
    ['a store that is not SQLite', 1, ['serve', '--data', at('broken'), ...ports]],
    ['a store that is not SQLite, in a check', 1, ['check', '--data', at('broken')]],
    ['a store of a newer Daybook', 1, ['serve', '--data', at('newer'), ...ports]],
    ['a missing store', 2, ['check', '--data', at('nothing')]],
    ['a missing token file', 2, ['publish', line, '--token-file', at('nothing')]],
    ['a missing file of drafts', 2, ['publish', at('nothing'), '--token-file', token]],
    ['a directory for a file of drafts', 2, ['publish', directory, '--token-file', token]],
    ['a simulation on another chain', 2, ['demo', '--data', at('demo'), '--chain', 'evm', ...ports]],
    ['a log that is not simulated', 2, ['demo', '--data', at('real'), ...ports]],
    ['a log of another chain', 2, ['serve', '--data', at('real'), '--chain', 'evm', ...ports]],
    [
      'finality of another chain',
      2,
      ['serve', '--data', at('real'), ...ports, '--finality', 'evm=http://127.0.0.1:9'],
    ],
    ['finality without an address', 2, ['serve', '--data', at('real'), ...ports, '--finality', 'solana=']],
    [
      'amounts without finality',
      2,
      ['serve', '--data', at('real'), ...ports, '--finality-amounts', 'payer=a,token=b'],
    ],
    [
      'a malformed address of the publish API',
      2,
      ['publish', line, '--token-file', token, '--to', 'nowhere'],
    ],
  ]
  const fresh = ['serve', '--data', at('fresh'), '--development', ...ports]
  const from = ['publish', '--from', 'postgres://a@127.0.0.1:9/b', '--token-file', token]
  const named: readonly (readonly [option: string, args: readonly string[]])[] = [
    ['--publish-token-file', fresh],
    ['--signing-key-file', fresh],
    ['--token-file', ['publish', line]],
    ['--password-file', from],
    ['--show', ['keygen']],
  ]
  for (const [name] of BAD_FILES) {
    for (const [option, args] of named) {
      test(`for a file of ${option} that is ${name} (${args.join(' ').slice(-30)})`, async () => {
        const ended = await daybook(...args, option, at(name))
        assert.equal(ended.code, 2, ended.said)
        assert.ok(isOneLine(ended), ended.said)
        assert.ok(ended.said.includes(option) || ended.said.includes(at(name)), ended.said)
        assert.doesNotMatch(ended.said, /DECODER|routines|[\0\ufffd]/)
      })
    }
  }
  for (const [what, code, args] of table) {
    test(`for ${what}`, async () => {
      const ended = await daybook(...args)
      assert.equal(ended.code, code, ended.said)
      assert.ok(isOneLine(ended), ended.said)
    })
  }

  test('and makes no key, for a quorum without witnesses', async () => {
    const ended = await daybook(
      'serve',
      '--data',
      at('new'),
      '--development',
      '--witness-quorum',
      '2',
      ...ports,
    )
    assert.equal(ended.code, 2, ended.said)
    assert.equal(ended.said, 'daybook: --witness-quorum needs --witness\n')
    assert.deepEqual([existsSync(at('new')), existsSync(at('new.key'))], [false, false])
  })

  test('with the remedy, for a demonstration of another version of Daybook', async () => {
    const ended = await daybook('demo', '--data', at('newer'), ...ports)
    assert.equal(ended.code, 1, ended.said)
    assert.ok(isOneLine(ended), ended.said)
    assert.ok(ended.said.includes(`${at('newer')}: the store has schema 1000, and `), ended.said)
    assert.match(ended.said, / remove this folder, which holds a demonstration only, and start again\n$/)
  })

  // The system allows no folder below /proc. Making it must not be tried for ever.
  const proc = '/proc/no-folder'
  const made: readonly (readonly [option: string, args: readonly string[]])[] = [
    ['--save', ['verify', 'http://127.0.0.1:9', '--save', proc]],
    ['--to', ['pull', 'http://127.0.0.1:9', '--to', proc]],
    ['--to', ['keygen', '--to', `${proc}/key`]],
    ['--data', ['serve', '--data', proc, '--development', ...ports]],
  ]
  for (const [option, args] of made) {
    test(
      `at once, for a folder that ${args[0]} cannot make`,
      { skip: skipUnless(existsSync('/proc/self'), '/proc') },
      async () => {
        const ended = await daybook(...args)
        assert.equal(ended.code, 2, ended.said)
        assert.match(ended.said, new RegExp(`^daybook: ${option}: ${proc}\\S* cannot be made: [^\\n]+\\n$`))
      },
    )
  }

  test(
    'without blaming the store, for a full disk under a copy',
    { skip: skipWithout('prlimit') },
    async () => {
      const limit = ['--fsize=30000:30000']
      const args = [MAIN, 'backup', '--data', at('real'), '--to', at('copy.db')]
      const ended = spawnSync('prlimit', [...limit, process.execPath, ...args], { encoding: 'utf8' })
      assert.equal(ended.status, 1, ended.stderr)
      assert.match(ended.stderr, /^daybook: no copy was made: [^\n]+\n$/)
      assert.ok(!existsSync(at('copy.db')))
    },
  )

  for (const which of ['--port', '--publish-port']) {
    test(`and ends the command, for a ${which} that is in use`, async () => {
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      const taken = String((other.address() as AddressInfo).port)
      const rest = ports.map((word, index) => (ports[index - 1] === which ? taken : word))
      const ended = await daybook('serve', '--data', at(`data${which}`), '--development', ...rest)
      other.close()
      assert.equal(ended.code, 1, ended.said)
      // Lines of the log and of a new key come first.
      const [message, end] = ended.said.split('\n').slice(-2)
      assert.equal(
        message,
        `daybook: another program listens on 127.0.0.1:${taken}: stop it, or choose another port with ${which}`,
      )
      assert.equal(end, '')
    })
  }

  test('for a publish API that is another program', async () => {
    const other = createServer((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'))
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const to = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const ended = await daybook('publish', line, '--token-file', token, '--to', to)
    other.close()
    assert.equal(ended.code, 1)
    assert.match(ended.said, /the program that answered is not a publish API/)
    assert.doesNotMatch(ended.said, /\n {4}at /)
  })
})
