import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { sha256 } from '../../src/log/tree/signer.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { cosignerKey } from '../../src/log/tree/cosigner-key.ts'
import { until } from '../processes/other-program.ts'
import { run } from '../stage/command-stage.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { MAIN } from '../stage/places.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { signingKeyOf, TEST_KEY } from '../story/signing.ts'
import { startStagedWitness } from './witness-stage.ts'
import { formatVkey, verifierKey } from '../../src/tlog/note.ts'

const PAGE = textOf('docs/witnesses.md')
const ORIGIN = 'data.example.org/log'
const LOG_KEY = verifierKey(sha256, ORIGIN, 'ed25519', TEST_KEY.publicKey)
const SHORT_NAMES = ['one', 'two', 'three'] as const
const WITNESSES = SHORT_NAMES.map((short) => {
  const name = `${short}.example.net`
  const seed = createHash('sha256').update(name).digest('hex')
  return { short, name, key: cosignerKey(name, signingKeyOf(seed).privateKey) }
})
const DRAFT = '{"ref":"a","type":"trade","kind":"buy","kots":"1","at":"2026-09-01T00:00:00.000Z"}\n'
const BLOCK_MS_MAX = 60_000

const runFile = promisify(execFile)
const blocks = blocksOf(PAGE).flatMap(({ language, text, before: line, line: at }) => {
  const kind = /^<!-- run: (\w+) -->$/.exec(line)?.[1]
  // Those of a machine change users and files of the system: test/ops/from-nothing.slow.test.ts runs them in one of its own.
  return language === 'sh' && kind !== undefined && kind !== 'machine' ? [{ kind, text, at }] : []
})

/** Output that each kind of block must have. */
const SAYS: Readonly<Record<string, RegExp>> = {
  read: /"quorum":2,.*"state":"cosigning".*\n1\n[^ ]+\n\n(— .*\n){3,4}/s,
  verify: /^ok {4}witnesses {6}3 of 3 witnesses vouch for 1 of 1 event/m,
  ask: /^data\.example\.org\/log\n1\n[^\n]+\n\n(— .*\n)*— one\.example\.net /,
}

suite('docs/witnesses.md', { skip: skipWithout('curl', 'sha256sum', 'awk') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-witnesses-'))
  const stack = new AsyncDisposableStack()
  const addresses = new Map<string, string>()
  before(async () => {
    for (const { short, name, key } of WITNESSES) {
      const logs = [{ origin: ORIGIN, keys: [LOG_KEY] }]
      const now = () => msOf(Date.now())
      const served = await startStagedWitness(join(folder, short), logs, now, { name, keys: [key] })
      stack.use(served)
      addresses.set(`https://${name}`, `http://127.0.0.1:${served.port}`)
      writeFileSync(join(folder, `${short}.vkey`), `${formatVkey(key.verifier)}\n`)
    }
    addresses.set('http://127.0.0.1:8090', addresses.get('https://one.example.net') ?? '')
    writeFileSync(join(folder, 'vkey'), `${formatVkey(LOG_KEY)}\n`)
    writeFileSync(join(folder, 'policy'), policy())
    const pem = TEST_KEY.privateKey.export({ format: 'pem', type: 'pkcs8' })
    writeFileSync(join(folder, 'data.key'), pem, { mode: 0o600 })
    writeFileSync(join(folder, 'drafts.jsonl'), DRAFT)
    const data = join(folder, 'data')
    const words = ['import', '--data', data, '--origin', ORIGIN, '--chain', 'opaque']
    const imported = await run([...words, join(folder, 'drafts.jsonl')])
    assert.equal(imported.code, 0, imported.stderr)
  })
  after(async () => {
    await stack.disposeAsync()
    rmSync(folder, { recursive: true })
  })

  /** A block with the addresses of this test. */
  function scriptOf(text: string): string {
    let script = text.replaceAll('npm run -s daybook --', `'${process.execPath}' '${MAIN}'`)
    for (const [told, own] of addresses) script = script.replaceAll(told, own)
    return script
  }

  /** Serves as a block says until the end, and waits for its witnesses. */
  async function serve(text: string): Promise<void> {
    const own = { DAYBOOK_PORT: '0', DAYBOOK_PUBLISH_PORT: '0', DAYBOOK_RATE_LIMIT: 'off' }
    const env = { ...process.env, ...own }
    const words = ['-euc', `exec ${scriptOf(text)}`]
    const child = spawn('bash', words, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
    stack.defer(() => stop(child))
    for await (const line of createInterface({ input: child.stderr })) {
      const url = /listening on (http:\S+)/.exec(line)?.[1]
      if (url === undefined) continue
      addresses.set('http://127.0.0.1:8080', url)
      break
    }
    child.stderr.resume()
    const url = addresses.get('http://127.0.0.1:8080') ?? ''
    await until('all three have cosigned', async () => {
      const answer = await (await fetch(`${url}/api/v1/log/witnesses`)).text()
      return answer.match(/"state":"cosigning"/g)?.length === WITNESSES.length
    })
  }

  test('has blocks of each kind, and serves first', () => {
    assert.deepEqual(
      blocks.map(({ kind }) => kind),
      ['serve', 'read', 'verify', 'verify', 'ask'],
    )
  })

  for (const { kind, text, at } of blocks) {
    test(`line ${at} succeeds`, async () => {
      if (kind === 'serve') return serve(text)
      const options = { cwd: folder, timeout: BLOCK_MS_MAX }
      const { stdout } = await runFile('bash', ['-euc', scriptOf(text)], options)
      assert.match(stdout, SAYS[kind] ?? /^$/)
    })
  }

  test('shows a policy with the keys of its names', () => {
    const keys = policy().match(/^(?:log|witness \w+) \S+/gm)
    const own = WITNESSES.map(({ short, key }) => `witness ${short} ${formatVkey(key.verifier)}`)
    assert.deepEqual(keys, [`log ${formatVkey(LOG_KEY)}`, ...own])
  })
})

/** The policy of the page (C2SP tlog-policy). */
function policy(): string {
  return blocksOf(PAGE).find(({ text }) => text.includes('\nquorum '))?.text ?? ''
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
}
