import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import type { Service } from '../../src/command/service/service.ts'
import { VERSION } from '../../src/command/terminal/version.ts'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { verifierKeyOf } from '../../src/log/tree/signer.ts'
import { buildMirror } from '../../src/mirror/build-mirror.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import { formatVkey } from '../../src/tlog/note.ts'
import { KEPT_LOG, unpackKept } from '../books/kept-store.ts'
import { run } from '../stage/command-stage.ts'
import { startLocalNode } from '../stage/manual-node.ts'
import { OTHER_KEY } from '../story/signing.ts'

const DRAFTS = join(import.meta.dirname, '..', 'sample', 'sample.drafts.jsonl')

/** An address at which nothing listens. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  assert.ok(typeof address === 'object' && address !== null)
  return `http://127.0.0.1:${address.port}`
}

suite('daybook mirror', () => {
  const kept = unpackKept(SCHEMA_VERSION)
  const folder = mkdtempSync(join(tmpdir(), 'daybook-mirror-'))
  const data = join(folder, 'mirror')
  const clock = openSharedClock()
  clock.set(msOf(Date.UTC(2026, 3, 20, 12)))
  let origin: Service
  let url = ''
  before(async () => {
    origin = await startLocalNode(kept.data, KEPT_LOG, kept.keys, clock)
    url = `http://127.0.0.1:${origin.port}`
    await buildMirror(
      {
        url,
        dataDirectory: data,
        vkeys: [],
        followFormer: false,
        version: VERSION,
        now: clock.now,
        around: {},
      },
      { onProgress: () => undefined, signal: AbortSignal.timeout(60_000) },
    )
  })
  after(async () => {
    await origin[Symbol.asyncDispose]()
    kept[Symbol.dispose]()
    rmSync(folder, { recursive: true })
  })
  const ports = ['--port', '0', '--ops-port', '0']

  test('builds, serves until a signal, and ends with 0', async () => {
    const stop = new AbortController()
    const other = join(folder, 'other')
    const witness = ['--witness-name', 'mirror.example/w', '--witness-port', '0']
    const words = ['mirror', url, '--data', other, ...ports, ...witness, '--drain', '0']
    const said = new PassThrough().setEncoding('utf8')
    let stderr = ''
    said.on('data', (part: string) => (stderr += part))
    const ended = run(words, { stop: stop.signal, stderr: said })
    while (!/the witness mirror\.example\/w · listening on/.test(stderr)) await once(said, 'data')
    stop.abort()
    const { code } = await ended
    assert.equal(code, 0, stderr)
    assert.match(stderr, /the mirror is built and proved: \d+ events/)
    // The keys are beside the directory, and their vkeys are told.
    for (const name of [`${other}.witness.key`, `${other}.witness.ml-dsa.key`]) {
      assert.ok(existsSync(name) && stderr.includes(name), name)
    }
    assert.equal(stderr.match(/"words":"mirror\.example\/w\+/g)?.length, 2)
  })

  test('says at once which address does not answer, and why, and keeps nothing', async () => {
    const stop = new AbortController()
    const said = new PassThrough()
    const nowhere = join(folder, 'nowhere')
    const beganMs = performance.now()
    const gone = await closedAddress()
    const ended = run(['mirror', gone, '--data', nowhere, ...ports], {
      stop: stop.signal,
      stderr: said,
    })
    let text = ''
    while (!text.includes('cannot be followed')) {
      await once(said, 'readable')
      text += String(said.read() ?? '')
    }
    assert.ok(text.includes(`asks ${gone} for its log`), text)
    assert.ok(text.includes(`${gone}/api/v1/status: fetch failed (connect ECONNREFUSED`), text)
    assert.ok(performance.now() - beganMs < 5_000)
    stop.abort()
    const { code, stderr } = await ended
    assert.equal(code, 1)
    assert.match(stderr, /stopped before the mirror was begun: nothing is kept/)
    assert.equal(existsSync(join(nowhere, 'daybook.db')), false)
  })

  test('refuses an address with a path, and a key that is none, as wrong usage', async () => {
    for (const words of [
      ['mirror', `${url}/api/v1`, '--data', join(folder, 'a')],
      ['mirror', 'data.example.org', '--data', join(folder, 'a')],
      ['mirror', url, '--data', join(folder, 'a'), '--vkey', 'nonsense'],
      ['mirror', url],
      ['mirror', url, '--data', join(folder, 'a'), '--witness-key-file', 'w.key'],
      ['mirror', url, '--data', join(folder, 'a'), '--accept-copy'],
    ])
      assert.equal((await run(words)).code, 2, words.join(' '))
    assert.ok(!existsSync(join(folder, 'a')), 'nothing is left behind')
  })

  test('says that the log does not list a key, and accuses nobody', async () => {
    const wary = join(folder, 'wary')
    const vkey = formatVkey(verifierKeyOf('daybook.test/another', OTHER_KEY.publicKey))
    const { code, stderr } = await run(['mirror', url, '--data', wary, '--vkey', vkey, ...ports])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /does not list the key of --vkey: compare the key with the one that the operator of the log has published/,
    )
    assert.deepEqual(
      readdirSync(wary).filter((name) => /evidence|\.db/.test(name)),
      [],
    )
  })

  test('refuses a port that is taken before it fetches anything', async () => {
    const late = join(folder, 'late')
    const taken = ['--port', `${origin.port}`, '--ops-port', '0']
    const { code, stderr } = await run(['mirror', url, '--data', late, ...taken])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /another program listens on 127\.0\.0\.1:\d+: stop it, or choose another port with --port/,
    )
    assert.deepEqual(
      readdirSync(late).filter((name) => name.includes('.db')),
      [],
    )
  })

  test('refuses the directory of another log', async () => {
    const own = join(folder, 'own')
    cpSync(kept.data, own, { recursive: true })
    await assert.rejects(run(['mirror', url, '--data', own, ...ports]), /holds a log of its own/)
  })

  test('has a directory that no command publishes into', async () => {
    for (const words of [
      ['serve', '--data', data, '--development', '--port', '0', '--publish-port', '0'],
      ['import', DRAFTS, '--data', data, '--development'],
    ]) {
      const { code, stderr } = await run(words)
      assert.equal(code, 2, stderr)
      assert.match(stderr, new RegExp(`holds a mirror of ${url}`))
    }
    assert.ok(
      !existsSync(`${data}.key`) && !existsSync(join(data, 'publish-token')),
      'no key and no token is made',
    )
  })

  test('has a directory that can be checked, examined and backed up', async () => {
    const checked = await run(['check', '--data', data])
    assert.equal(checked.code, 0, checked.stderr)
    const backup = join(folder, 'backup.db')
    const backed = await run(['backup', '--data', data, '--to', backup])
    assert.equal(backed.code, 0, backed.stderr)
    const examined = await run(['doctor', '--data', data])
    assert.match(examined.stdout + examined.stderr, /ok +key +a mirror of /)
    const restored = await run(['restore', '--data', data, '--from', backup])
    assert.equal(restored.code, 0, restored.stderr)
    assert.match(restored.stdout + restored.stderr, /ok +key +a mirror of /)
    assert.doesNotMatch(restored.stdout + restored.stderr, /is missing/)
    assert.match(restored.stdout + restored.stderr, /mirror http:\/\/127\.0\.0\.1:\d+ --data/)
  })
})
