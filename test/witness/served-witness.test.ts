import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { ServedWitness } from '../../src/witness/command/served-witness.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { originHashOf } from '../../src/witness/cosigner/cosigner.ts'
import { SUBMISSION_BYTES_MAX } from '../../src/witness/cosigner/submission.ts'
import { WITNESS_CONNECTIONS_MAX } from '../../src/witness/cosigner/witness-listener.ts'
import { sha256 } from '../tlog/example.ts'
import { addCheckpointBody, openAskingLog } from './asking-log.ts'
import { WITNESS_KEYS, WITNESS_NAME } from './cosigner-stage.ts'
import { startStagedWitness } from './witness-stage.ts'
import { assertCase, assertCosigned } from './witness-case.ts'
import { WITNESS_CASES } from './witness-cases.ts'
import { formatVkey, parseVkey } from '../../src/tlog/note.ts'

suite('daybook witness', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-witness-'))
  const log = openAskingLog('log.example/served')
  const vkeys = WITNESS_KEYS.map(({ verifier }) => formatVkey(verifier))
  let served: ServedWitness
  let url = ''
  before(async () => {
    const logs = [...WITNESS_CASES.map(({ origin }) => openAskingLog(origin)), log].map((one) => ({
      origin: one.origin,
      keys: one.vkeys.map((vkey) => parseVkey(sha256, vkey) ?? assert.fail('the vkey is well formed')),
    }))
    served = await startStagedWitness(join(folder, 'state'), logs, () => msOf(Date.now()))
    url = `http://127.0.0.1:${served.port}`
  })
  after(async () => {
    await served[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
    await fetch(`${url}${path}`, init)

  for (const one of WITNESS_CASES) test(one.name, () => assertCase({ url, vkeys }, one))

  test('shows the note to readers of any site, and nothing of a log that it has not cosigned', async () => {
    const path = `/${originHashOf(log.origin)}/checkpoint`
    assert.equal((await ask(path)).status, 404)
    await assertCosigned({ url, vkeys }, addCheckpointBody(0, [], log.checkpoint(3)))
    const shown = await ask(path)
    assert.equal(shown.headers.get('access-control-allow-origin'), '*')
    const note = await shown.text()
    assert.ok(note.startsWith(log.checkpoint(3)))
    assert.deepEqual(note.match(/(?<=^— )\S+/gm), [log.origin, WITNESS_NAME, WITNESS_NAME])
    assert.equal((await ask(path, { method: 'HEAD' })).status, 200)
    assert.equal((await ask(`${path}?again`)).status, 404)
    assert.equal((await ask(path.toUpperCase())).status, 404)
  })

  test('has a page with its keys, its logs and how to use it', async () => {
    const page = await (await ask('/')).text()
    for (const part of [...vkeys, log.origin, 'size 3', '--witness VKEY=URL'])
      assert.ok(page.includes(part), part)
  })

  test('takes no other method, no coded body and none above its limit', async () => {
    const wrong = await ask('/add-checkpoint')
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST'])
    assert.equal((await ask('/', { method: 'POST' })).status, 405)
    assert.equal((await ask('/nothing')).status, 404)
    const coded = { method: 'POST', body: 'x', headers: { 'content-encoding': 'gzip' } }
    assert.equal((await ask('/add-checkpoint', coded)).status, 415)
    const long = { method: 'POST', body: 'x'.repeat(SUBMISSION_BYTES_MAX + 1) }
    assert.equal((await ask('/add-checkpoint', long)).status, 413)
  })

  test('tells on its private listener that it is ready, and counts each outcome', async () => {
    const publishUrl = `http://127.0.0.1:${served.opsPort}`
    assert.deepEqual(await (await fetch(`${publishUrl}/readyz`)).json(), {
      ready: true,
      checks: { state: true, serving: true },
    })
    assert.equal((await fetch(`${publishUrl}/livez`)).status, 200)
    const metrics = await (await fetch(`${publishUrl}/metrics`)).text()
    assert.match(metrics, /^daybook_cosigner_requests_total\{outcome="conflict"\} [1-9]/m)
    assert.match(metrics, /^daybook_cosigner_contradictions [1-9]/m)
    assert.equal((await ask('/metrics')).status, 404)
  })

  test('answers although others hold as many connections as there may be', async () => {
    const address = { port: served.port, host: '127.0.0.1' }
    const begun = 'POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: 9\r\n\r\nold'
    const held = await Promise.all(
      Array.from({ length: WITNESS_CONNECTIONS_MAX }, async (_, index) => {
        const socket = connect(address)
        socket.on('error', () => {})
        await once(socket, 'connect')
        // Some are idle, and some send a body that never ends.
        if (index % 2 === 1) socket.write(begun)
        return socket
      }),
    )
    const chunks: Buffer[] = []
    const late = connect(address).on('data', (chunk) => chunks.push(Buffer.from(chunk)))
    late.end('GET / HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n')
    await once(late, 'close')
    for (const socket of held) socket.destroy()
    assert.match(String(Buffer.concat(chunks)), /^HTTP\/1\.1 200 OK/)
  })

  test('answers a request that is under way at a stop, and then ends', async () => {
    const body = addCheckpointBody(3, log.proof(3, 5), log.checkpoint(5))
    const socket = connect(served.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\nold`,
    )
    // Answered on another connection, so that the witness has read the beginning of this one.
    await ask('/')
    const ended = served[Symbol.asyncDispose]()
    socket.write(body.slice(3))
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
    await once(socket, 'close')
    await ended
    assert.match(String(Buffer.concat(chunks)), /^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)+\r\n— /u)
    await assert.rejects(fetch(url))
  })
})
