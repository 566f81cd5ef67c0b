import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { every, publish } from '../../../test/stage/archive-node.ts'
import { OTHER_KEY, TEST_KEY, testSigner } from '../../../test/story/signing.ts'
import { openAppender } from '../../log/append.ts'
import { openReader } from '../../log/open-reader.ts'
import type { LogReader } from '../../log/store/reader.ts'
import { changeKeys } from '../../log/tree/ready-log.ts'
import { createStore, openForWriting, readIdentity, storePath, writeIdentity } from '../../log/store/store.ts'
import { MINUTE_MS } from '../../protocol/moment.ts'
import type { LogKeys } from '../../protocol/endpoints/file-endpoints.ts'
import type { RouteRequest, Reply } from '../http/route.ts'
import { treeReplies } from './tree-routes.ts'

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
