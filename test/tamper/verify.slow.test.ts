import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { after, before, suite, test } from 'node:test'
import type { ArchiveIndex, LogKeys } from '../../src/protocol/endpoints/file-endpoints.ts'
import { get } from '../oracle/download.ts'
import { run } from '../stage/command-stage.ts'
import { daybook, type Service, startService } from '../stage/service.ts'
import { MAIN, SAMPLE } from '../stage/places.ts'
import { publishTo } from '../stage/node-process.ts'

const API = '/api/v1'

/** A proxy between the verifier and the service that can change each body. */
async function proxyOf(
  url: string,
  change: (path: string, body: Buffer) => Buffer | Promise<Buffer>,
): Promise<Readonly<{ url: string }> & AsyncDisposable> {
  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? ''
      const answer = await fetch(new URL(path, url))
      const body = Buffer.from(await answer.arrayBuffer())
      const changed = answer.ok ? await change(path.slice(API.length + 1), body) : body
      response
        .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
        .end(changed)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: close }
}

async function publish(to: Service, ref: string, kots = '1'): Promise<void> {
  assert.equal((await publishTo(to, [{ ref, type: 'treasury', kind: 'deposit', kots }])).status, 200)
}

const vkeyOf = async (url: string): Promise<string> =>
  (await get<LogKeys>(url, `${API}/log/keys`)).keys[0]?.vkey ?? ''

suite('daybook verify', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-verify-'))
  let service: Service
  let vkey: string
  before(async () => {
    service = await startService({ drafts: SAMPLE })
    vkey = await vkeyOf(service.url)
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  test('verifies a service on one screen, and at the next visit that the log only grew', async () => {
    const words = ['verify', service.url, '--key', vkey, '--save', join(folder, 'saved')]
    const first = await daybook(...words)
    assert.equal(first.code, 0, first.stdout + first.stderr)
    assert.ok(first.stdout.split('\n').length <= 24, first.stdout)
    assert.match(first.stdout, /^ok {4}signature {6}2187 events, signed by .* \(the key that you gave\)$/m)
    assert.match(first.stdout, /^- {5}consistency {4}not checked/m)
    assert.match(first.stdout, /^right, and 1 not checked; \d+ requests, /m)
    await publish(service, 'verify-1')
    const second = await run(['verify', service.url, '--save', join(folder, 'saved')])
    assert.equal(second.code, 0, second.stdout + second.stderr)
    assert.match(second.stdout, /2188 events, signed by .* \(the key kept at an earlier visit\)$/m)
    assert.match(second.stdout, /^ok {4}consistency {4}the log grew from the 2187 events of \S+$/m)
    assert.match(second.stdout, /^all of it is right; /m)
  })

  test('distinguishes a fork signed with the same key from a rollback', async () => {
    const saved = join(folder, 'forks')
    const copy = mkdtempSync(join(folder, 'copy-'))
    const size = Number((await (await fetch(`${service.url}${API}/log/checkpoint`)).text()).split('\n')[1])
    await using other = await startService({ drafts: SAMPLE, options: await sameKey(service, copy) })
    const [events, missing] = [2187, size - 2187]
    assert.ok(missing > 0, 'the service went on')
    const first = await run(['verify', service.url, '--save', saved])
    assert.equal(first.code, 0, first.stdout)
    const cut = await run(['verify', other.url, '--save', saved])
    assert.equal(cut.code, 1)
    assert.match(
      cut.stdout,
      new RegExp(
        `^WRONG consistency .*ROLLBACK: it covers ${size} events, and the log now has ${events}$`,
        'm',
      ),
    )
    assert.match(cut.stderr, /evidence saved in .*rollback-/)
    for (let at = 0; at <= missing; at++) await publish(other, `fork-${at}`, '2')
    const forked = await run(['verify', other.url, '--save', saved])
    assert.equal(forked.code, 1)
    assert.match(
      forked.stdout,
      new RegExp(`^WRONG consistency .*FORK: the first ${size} events differ from what it signed$`, 'm'),
    )
    const evidence = readdirSync(saved).find((name) => name.includes('-fork-')) ?? ''
    assert.deepEqual(readdirSync(join(saved, evidence)), [
      'evidence.txt',
      'saved.checkpoint',
      'served.checkpoint',
    ])
    const since = join(saved, evidence, 'saved.checkpoint')
    const named = await run(['verify', other.url, '--since', since])
    assert.match(named.stdout, /FORK/)
    assert.match(named.stderr, /evidence was found and not saved/)
  })

  test('verifies a folder of downloaded files, and finds a changed one', async () => {
    const mirror = join(folder, 'mirror')
    await download(service.url, mirror)
    const right = await run(['verify', mirror, '--key', vkey])
    assert.equal(right.code, 0, right.stdout + right.stderr)
    assert.match(right.stdout, /^- {5}ledgers +not checked: not in the folder$/m)
    assert.match(right.stdout, /^ok {4}summary {8}as of now$/m)
    const month = join(mirror, 'archive', '2026-07.jsonl.gz')
    const bytes = readFileSync(month)
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    writeFileSync(month, bytes)
    const wrong = await run(['verify', mirror, '--key', vkey])
    assert.equal(wrong.code, 1)
    assert.match(
      wrong.stdout,
      /^WRONG archive +archive\/\d{4}-\d{2}\.jsonl\.gz: its SHA-256 is not that of its manifest$/m,
    )
  })

  test('reports a wrong argument in one line, and ends with 2', async () => {
    const checkpoint = join(folder, 'none.checkpoint')
    writeFileSync(checkpoint, 'no checkpoint\n')
    for (const words of [
      ['verify'],
      ['verify', join(folder, 'nowhere')],
      ['verify', 'https://daybook.example/log'],
      ['verify', folder, '--key', 'no-key'],
      ['verify', folder, '--since', join(folder, 'nowhere')],
      ['verify', folder, '--since', checkpoint],
    ]) {
      const { code, stderr, stdout } = await run(words)
      assert.equal(code, 2, words.join(' '))
      assert.equal(stdout, '')
      assert.doesNotMatch(stderr, /\n {4}at /)
    }
  })

  test('is stopped by a signal, and then says nothing about the log', async () => {
    let stop: () => void = () => undefined
    const asked = new Promise<void>((resolve) => (stop = resolve))
    await using proxy = await proxyOf(service.url, async (_, body) => {
      stop()
      return new Promise<Buffer>((resolve) => setTimeout(() => resolve(body), 60_000).unref())
    })
    const child = spawn(process.execPath, [MAIN, 'verify', proxy.url], { stdio: ['ignore', 'pipe', 'pipe'] })
    const said = Promise.all([child.stdout, child.stderr].map((stream) => textOf(stream)))
    const closed = once(child, 'close')
    await asked
    child.kill('SIGINT')
    await closed
    assert.equal(child.exitCode, 1)
    assert.deepEqual(await said, ['', 'daybook: stopped; the log was not verified\n'])
  })

  test('ends with 1 when there is nothing to verify', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    const found = await run(['verify', empty])
    assert.equal(found.code, 1)
    assert.match(found.stdout, /^WRONG signature +log\/keys: is missing: give the key of the log$/m)
  })
})

/** Options of a second service that signs with the first one's key. */
async function sameKey({ data }: Service, copy: string): Promise<readonly string[]> {
  const file = join(copy, 'same.key')
  cpSync(`${data}.key`, file)
  return ['--rate-limit', 'off', '--signing-key-file', file, '--accept-new-key']
}

/** Downloads the archive, the keys, the checkpoint, and an answer. */
async function download(url: string, folder: string): Promise<void> {
  const { months } = await get<ArchiveIndex>(url, `${API}/archive`)
  const files = months.flatMap(({ month }) => [
    `archive/${month}.jsonl.gz`,
    `archive/${month}.details.jsonl.gz`,
  ])
  const manifests = months.flatMap(({ month, state }) =>
    state === 'closed' ? [`archive/${month}.json`] : [],
  )
  const names = [
    ...files,
    ...manifests,
    'archive/SHA256SUMS',
    'log/keys',
    'log/checkpoint',
    'summary',
    'schedule',
  ]
  for (const name of names) {
    const answer = await fetch(`${url}${API}/${name}`)
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), Buffer.from(await answer.arrayBuffer()))
  }
}
