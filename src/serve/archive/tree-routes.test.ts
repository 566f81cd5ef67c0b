import type { LogKeys, Witnesses } from '../../protocol/endpoints/file-endpoints.ts'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, suite, test } from 'node:test'
import { every, publish } from '../../../test/stage/archive-node.ts'
import { OTHER_KEY, TEST_KEY, testSigner } from '../../../test/story/signing.ts'
import { openAppender } from '../../log/append.ts'
import { openReader } from '../../log/open-reader.ts'
import type { LogReader } from '../../log/store/reader.ts'
import { changeKeys } from '../../log/tree/ready-log.ts'
import { createStore, openForWriting, readIdentity, storePath, writeIdentity } from '../../log/store/store.ts'
import { MINUTE_MS } from '../../protocol/moment.ts'
import type { Reply, RouteRequest } from '../http/route.ts'
import { treeReplies } from './tree-routes.ts'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { cosignedState, ML_DSA_WITNESS, WITNESSES } from '../../../test/story/witnesses.ts'
import { openReceipt } from '../../../test/tlog/open-receipt.ts'
import { hasher, sha256, verifyEd25519 } from '../../../test/tlog/example.ts'
import { forgetWitnessed, keepWitnessed } from '../../log/witnessed/witnessed-file.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { parseReceipt } from '../../tlog/receipt.ts'
import { verifierKey } from '../../tlog/note.ts'

const FORMER = { id: '0'.repeat(32), origin: 'daybook.example/log', size: 2 }

suite('a log that has changed its keys and continues a former log', () => {
  let directory: string
  let log: LogReader
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'daybook-keys-'))
    createStore(storePath(directory), { origin: FORMER.origin, chain: 'opaque', simulated: false })
    const db = openForWriting(storePath(directory))
    publish(openAppender(db, testSigner(db)), every(MINUTE_MS, 2, Date.UTC(2026, 8, 1)))
    writeIdentity(db, { ...readIdentity(db), origin: `${FORMER.origin}/1`, former: [FORMER] })
    changeKeys(db, { keys: [TEST_KEY], acceptNewKey: true })
    changeKeys(db, { keys: [TEST_KEY, OTHER_KEY], acceptNewKey: false })
    changeKeys(db, { keys: [OTHER_KEY], acceptNewKey: false })
    db.close()
    log = openReader(directory, null)
  })
  after(() => {
    log.close()
    rmSync(directory, { recursive: true })
  })

  async function replyOf(
    id: 'logKeys' | 'logCheckpoint' | 'logProof',
  ): Promise<Extract<Reply, { is: 'body' }>> {
    const answer = treeReplies(log)[id]
    assert.ok(typeof answer === 'function')
    const reply = await answer({
      segments: { seq: '1' },
      query: { word: () => undefined },
      holds: () => false,
    } as unknown as RouteRequest)
    assert.ok(reply.is === 'body')
    return reply
  }

  test('lists the keys of both logs, retired ones too, with the statement of the older key', async () => {
    const keys = JSON.parse(String((await replyOf('logKeys')).body)) as LogKeys
    assert.equal(keys.origin, `${FORMER.origin}/1`)
    assert.equal(keys.logId, log.identity.id)
    assert.deepEqual(keys.formerLogs, [FORMER])
    const rows = keys.keys.map(({ vkey, state, fromSize, toSize, statement }) => {
      return [vkey.split('+')[0], state, fromSize, toSize, statement === null]
    })
    assert.deepEqual(rows, [
      [FORMER.origin, 'retired', 0, 2, true],
      [`${FORMER.origin}/1`, 'retired', 2, 2, true],
      [`${FORMER.origin}/1`, 'signing', 2, null, false],
    ])
  })

  test('changes the ETags of its checkpoint and receipts when another key signs the same tree', async () => {
    const earlier = [await replyOf('logCheckpoint'), await replyOf('logProof')]
    const db = openForWriting(storePath(directory))
    changeKeys(db, { keys: [OTHER_KEY, TEST_KEY], acceptNewKey: false })
    db.close()
    const later = openReader(directory, null)
    log.close()
    log = later
    const [checkpoint, receipt] = [await replyOf('logCheckpoint'), await replyOf('logProof')]
    assert.notEqual(checkpoint.body, earlier[0]?.body)
    assert.notEqual(receipt.etag, earlier[1]?.etag)
  })
})

const CHECKPOINT = '/api/v1/log/checkpoint.witnessed'
const LIST = '/api/v1/log/witnesses'
const receiptOf = (seq: number): string => `/api/v1/log/proof/${seq}?checkpoint=witnessed`

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const textOf = async (path: string): Promise<string> => (await stage.get(path)).text()
const listed = async (): Promise<Witnesses> => JSON.parse(await textOf(LIST))
const newest = (): Promise<string> => textOf('/api/v1/log/checkpoint')

/** Status, `Retry-After`, code and `witnessedSeq` of a refusal. */
async function refusal(path: string): Promise<readonly unknown[]> {
  const response = await stage.get(path, { 'if-none-match': '*' })
  const { code, witnessedSeq } = (await response.json()) as Readonly<Record<string, unknown>>
  return [response.status, response.headers.get('retry-after'), code, witnessedSeq]
}

suite('a log without witnesses', () => {
  before(() => forgetWitnessed(stage.data))

  test('lists none', async () => {
    assert.deepEqual(await listed(), { quorum: null, witnesses: [], witnessed: null })
  })

  test('has no witnessed checkpoint and no receipt against it, and asks nobody to try again', async () => {
    const none = [404, null, 'not-witnessed', null]
    assert.deepEqual(await refusal(CHECKPOINT), none)
    assert.deepEqual(await refusal(receiptOf(1)), none)
  })
})

suite('a log whose witnesses are too few for a quorum', () => {
  before(async () => keepWitnessed(stage.data, cosignedState(await newest(), { by: WITNESSES.slice(0, 1) })))

  test('lists them with their states, and up to where each has cosigned it', async () => {
    const { quorum, witnesses, witnessed } = await listed()
    assert.deepEqual([quorum, witnessed], [2, null])
    const head = stage.reader.head().seq
    assert.deepEqual(
      witnesses.map(({ name, state, seq, atMs }) => [name, state, seq, atMs === null]),
      [
        ['witness.example/one', 'cosigning', head, false],
        ['witness.example/two', 'silent', null, true],
        ['witness.example/three', 'silent', null, true],
      ],
    )
  })

  test('says when to ask again', async () => {
    const later = [404, '10', 'not-witnessed', null]
    assert.deepEqual(await refusal(CHECKPOINT), later)
    assert.deepEqual(await refusal(receiptOf(1)), later)
  })
})

suite('a log with a witnessed checkpoint', () => {
  const keys = [...WITNESSES, ML_DSA_WITNESS]
  const by = [WITNESSES[0], WITNESSES[2], ML_DSA_WITNESS].filter((key) => key !== undefined)
  let size = 0
  let checkpoint = ''
  before(async () => {
    size = stage.reader.head().seq
    checkpoint = await newest()
    stage.trade(3)
  })
  beforeEach(() => keepWitnessed(stage.data, cosignedState(checkpoint, { keys, by })))

  test('serves that note byte for byte, with its seq and an ETag of its content', async () => {
    const response = await stage.get(CHECKPOINT)
    assert.equal(
      await response.text(),
      stage.reader.snapshot(({ witnessed }) => witnessed()?.newest?.note),
    )
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(response.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
    assert.equal(response.headers.get('daybook-seq'), String(size))
    const etag = response.headers.get('etag') ?? ''
    assert.match(etag, /^"/)
    assert.equal((await stage.get(CHECKPOINT, { 'if-none-match': etag })).status, 304)
    // The same tree with newer cosignatures is another answer.
    keepWitnessed(stage.data, cosignedState(checkpoint, { by: WITNESSES, timeSeconds: 1_787_702_325 }))
    assert.equal((await stage.get(CHECKPOINT, { 'if-none-match': etag })).status, 200)
  })

  test('counts the events that it does not cover, and two keys of a name as one witness', async () => {
    const { witnesses, witnessed } = await listed()
    assert.deepEqual(
      witnesses.map(({ name }) => name),
      keys.map(({ key }) => key.name),
    )
    assert.deepEqual(witnessed, {
      seq: size,
      at: '2026-08-25T23:57:45.000Z',
      atMs: 1_787_702_265_000,
      behind: 3,
      cosigners: ['witness.example/one', 'witness.example/three'],
    })
  })

  test('proves an event against it, with a receipt that carries the cosignatures', async () => {
    const path = receiptOf(2)
    const response = await stage.get(path)
    const receipt = parseReceipt(Buffer.from(await response.text()))
    assert.ok(receipt.ok)
    assert.equal(receipt.value.checkpoint, await textOf(CHECKPOINT))
    assert.match(response.headers.get('content-disposition') ?? '', /"daybook-event-2-witnessed\.tlog-proof"/)
    assert.equal(response.headers.get('daybook-seq'), String(size))
    const { origin } = stage.reader.identity
    const log = { origin, keys: [verifierKey(sha256, origin, 'ed25519', TEST_KEY.publicKey)] }
    const details = JSON.parse(await textOf('/api/v1/events/2/details')) as { details: object | null }
    const line = await textOf('/api/v1/events/2')
    const detailsLine = details.details === null ? null : await textOf('/api/v1/events/2/details')
    const leaf = hasher.leaf(formatEntry(line, detailsLine))
    assert.ok((await openReceipt(hasher, receipt.value, leaf, log, verifyEd25519)).ok)
    const etag = response.headers.get('etag') ?? ''
    assert.equal((await stage.get(path, { 'if-none-match': etag })).status, 304)
    // The receipt against the newest checkpoint is another one, and is what is given without the parameter.
    const plain = await stage.get('/api/v1/log/proof/2', { 'if-none-match': etag })
    assert.equal(plain.status, 200)
    assert.equal(await plain.text(), await textOf('/api/v1/log/proof/2?checkpoint=newest'))
  })

  test('has no such receipt of an event that it does not cover, and says up to where it does', async () => {
    assert.equal((await stage.get(receiptOf(size))).status, 200)
    assert.deepEqual(await refusal(receiptOf(size + 1)), [404, '10', 'not-witnessed', size])
    assert.equal((await refusal(receiptOf(size + 4)))[2], 'event-not-found')
    assert.equal((await stage.get(`/api/v1/log/proof/${size + 1}`)).status, 200)
  })

  test('is read by each request anew, and changes the version of what is cached', async () => {
    const earlier = stage.reader.version()
    assert.equal(stage.reader.version(), earlier)
    keepWitnessed(stage.data, cosignedState(await newest()))
    assert.notEqual(stage.reader.version(), earlier)
    assert.deepEqual((await listed()).witnessed?.behind, 0)
  })
})
