import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { connectNats, openNats } from '../../src/engine/nats/nats-connection.ts'
import { parseNatsUrl } from '../../src/engine/nats/nats-target.ts'
import { run } from '../stage/command-stage.ts'
import { textOf } from '../stage/document.ts'
import { freePorts } from '../processes/free-ports.ts'
import { spawnTied, until } from '../processes/other-program.ts'
import { pathOf, skipUnless } from '../stage/test-needs.ts'
import { NATS_NEEDED, NATS_SERVER } from './nats-program.ts'
import { appendUntilRead } from './settled-append.ts'

const NAMES = ['a', 'b', 'c'] as const
const monotonicMs = (): number => performance.now()

/** A certificate for the loopback, which is its own authority. */
function makeCertificate(folder: string): void {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const name = ['-subj', '/CN=x', '-addext', 'subjectAltName=IP:127.0.0.1']
  const files = ['-out', join(folder, 'broker.pem'), '-keyout', join(folder, 'broker.key')]
  execFileSync('openssl', ['req', '-x509', ...curve, ...name, ...files], { stdio: 'ignore' })
  writeFileSync(join(folder, 'ca.pem'), readFileSync(join(folder, 'broker.pem')))
}

/** Starts a broker with the example configuration, in which only names, ports and paths are replaced. */
function startBroker(folder: string, at: number, ports: readonly number[]): ChildProcess {
  const name = NAMES[at] ?? 'a'
  const home = join(folder, name)
  mkdirSync(home)
  let text = textOf('ops/nats/nats-server.conf')
    .replace('daybook_a', `daybook_${name}`)
    .replace('0.0.0.0:4222', `127.0.0.1:${ports[at] ?? 0}`)
    .replace('0.0.0.0:6222', `0.0.0.0:${ports[NAMES.length + at] ?? 0}`)
    .replaceAll('/etc/nats/', `${folder}/`)
    .replace('/var/lib/nats', home)
    .replace('include accounts.conf', 'include ../made/accounts.conf')
  for (const [other, host] of NAMES.entries()) {
    text = text.replace(
      `nats://${host}.example.org:6222`,
      `nats://127.0.0.1:${ports[NAMES.length + other] ?? 0}`,
    )
  }
  writeFileSync(join(home, 'nats.conf'), text)
  return spawnTied(NATS_SERVER ?? '', ['-c', join(home, 'nats.conf')], { stdio: 'ignore' })
}

const hasAll = NATS_SERVER !== undefined && pathOf('openssl') !== undefined
const ready = { skip: skipUnless(hasAll, `${NATS_NEEDED} or openssl`) }

suite('daybook cluster init', { timeout: 300_000 }, () => {
  test('makes users, and with the example configuration a cluster for a log', ready, async () => {
    await using stack = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'daybook-nats-init-'))
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    makeCertificate(folder)
    const ports = await freePorts(2 * NAMES.length)
    const hosts = ports.slice(0, NAMES.length).map((port) => `127.0.0.1:${port}`)
    const url = `nats://${hosts.join(',')}?ca=${join(folder, 'ca.pem')}`
    const made = join(folder, 'made')
    const init = (): ReturnType<typeof run> => run(['cluster', 'init', url, '--to', made])

    const first = await init()
    assert.equal(first.code, 0, first.stderr)
    assert.equal(first.stdout, readFileSync(join(made, 'accounts.conf'), 'utf8'))
    assert.match(first.stderr, /start the brokers with it, and run this command again/)
    const seeds = ['administrator.seed', 'running.seed'].map((name) => {
      assert.equal(statSync(join(made, name)).mode & 0o777, 0o600)
      return readFileSync(join(made, name), 'utf8').trim()
    })
    for (const seed of seeds) assert.ok(!`${first.stdout}${first.stderr}`.includes(seed))

    const early = await init()
    assert.equal(early.code, 1)
    assert.match(early.stderr, /take no connection: the last one says: connection refused/)

    for (const at of NAMES.keys()) {
      const broker = startBroker(folder, at, ports)
      stack.defer(async () => {
        const ended = once(broker, 'exit')
        if (broker.kill('SIGKILL')) await ended
      })
    }
    let last = early
    await until('the stream is made', async () => (last = await init()).code === 0).catch(
      (error: unknown) => {
        throw new Error(last.stderr, { cause: error })
      },
    )
    assert.match(last.stderr, /the stream is (made|there already)/)
    const path = join(made, 'running.seed')
    assert.equal(last.stdout, `--log-store '${url}' --log-store-credentials ${path}\n`)
    assert.match((await init()).stderr, /the stream is there already, without a message/)

    const target = parseNatsUrl(url, (file) => readFileSync(file, 'utf8'))
    const credentials = readFileSync(path, 'utf8')
    await using log = await openNats({ target, credentials, stream: 1, nowMs: Date.now, monotonicMs })
    assert.ok(await appendUntilRead(log.log, 1, new TextEncoder().encode('a commit'), () => true))
    const used = await init()
    assert.equal(used.code, 1)
    assert.match(used.stderr, /the stream daybook-1 has 1 messages: it is the log of a cluster/)

    const byName = parseNatsUrl(url.replaceAll('127.0.0.1', 'localhost'), (file) =>
      readFileSync(file, 'utf8'),
    )
    await assert.rejects(connectNats(byName, credentials, monotonicMs), /does not match certificate/)
    const unsigned = parseNatsUrl(url.replace(/\?.*/, '').replace('nats:', 'tls:'), () => '')
    await assert.rejects(connectNats(unsigned, credentials, monotonicMs), /self-signed certificate/)

    chmodSync(path, 0o644)
    const open = await init()
    assert.equal(open.code, 2)
    assert.match(open.stderr, /running\.seed may be read by other users: make it private with chmod 600/)
  })

  test('refuses an address that it cannot use, and does not repeat it', async () => {
    for (const [address, why] of [
      [
        'nats://user:secret@a.example.org',
        /has a user or password: take it out, and give a credentials file/,
      ],
      ['http://secret.example.org', /give an address such as nats:\/\/a,b,c or postgres:/],
      ['nats://a,b:c:d', /the address of the brokers cannot be read: give one such as nats:/],
      ['nats://a?password=secret', /has a parameter that is none of `ca`, `cert` and `key`/],
    ] as const) {
      const { code, stderr } = await run(['cluster', 'init', address, '--to', join(tmpdir(), 'daybook-none')])
      assert.equal(code, 2)
      assert.match(stderr, why)
      assert.ok(!stderr.includes('secret'))
    }
  })
})
