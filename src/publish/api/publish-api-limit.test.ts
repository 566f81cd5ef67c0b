import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { suite, test } from 'node:test'
import {
  assertRefused,
  PUBLISH_TOKEN,
  openPublishStage,
  receipts,
  trade,
} from '../../../test/stage/publish-stage.ts'
import { PUBLISH_BYTES_MAX } from '../../protocol/draft.ts'
import { PUBLISH_CONNECTIONS_MAX } from './publish-api.ts'
import { API_REQUESTS_MAX } from './request-permits.ts'

/** A request whose headers were read and whose body is not sent yet. */
async function begin(port: number, path = '/publish'): Promise<ClientRequest> {
  const headers = {
    authorization: `Bearer ${PUBLISH_TOKEN}`,
    'content-type': 'application/json',
    'content-length': 2,
    expect: '100-continue',
  }
  const begun = request({ port, host: '127.0.0.1', method: 'POST', path, headers, agent: false })
  begun.flushHeaders()
  await once(begun, 'continue')
  return begun
}

async function answerTo(begun: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(begun, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response
}

async function idle(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

suite('the private publish API', () => {
  for (const path of ['/publish', '/held/drop']) {
    test(`keeps nobody out while slow bodies come to ${path}: the slowest one gives up its place`, async () => {
      await using stage = await openPublishStage()
      const begun: ClientRequest[] = []
      for (let number = 0; number < API_REQUESTS_MAX; number++) begun.push(await begin(stage.port(), path))
      const [slowest, ...others] = begun
      assert.ok(slowest !== undefined)
      const refused = answerTo(slowest)
      assert.deepEqual(receipts(await stage.publish([trade('a')])), [['a', 'published', 1]])
      const { statusCode, headers } = await refused
      assert.equal(statusCode, 503)
      assert.equal(headers['retry-after'], '1')
      assert.equal(headers.connection, 'close')
      // The others go on.
      for (const each of others) each.end('[]')
      const statuses = await Promise.all(others.map(answerTo))
      assert.ok(statuses.every((answer) => answer.statusCode !== 503))
    })
  }

  test('answers further connections while idle ones without a token fill it, and ends the oldest of those', async () => {
    await using stage = await openPublishStage()
    const publishing = await begin(stage.port())
    const sockets: Socket[] = []
    for (let number = 1; number < PUBLISH_CONNECTIONS_MAX; number++) sockets.push(await idle(stage.port()))
    const [oldest] = sockets
    assert.ok(oldest !== undefined)
    const ended = once(oldest, 'close')
    oldest.resume()
    assert.deepEqual(receipts(await stage.publish([trade('a')])), [['a', 'published', 1]])
    await ended
    assert.ok(stage.crowded.count >= 1)
    publishing.end('[]')
    assert.equal((await answerTo(publishing)).statusCode, 200)
    for (const socket of sockets) socket.destroy()
  })

  test('answers a body of 16 MiB that has too many drafts', async () => {
    await using stage = await openPublishStage()
    const body = Buffer.alloc(PUBLISH_BYTES_MAX, '{},')
    body.write('[  ')
    assertRefused(await stage.publish(body), 413, 'too-large')
    assert.equal((await stage.publish([trade('a')])).status, 200)
  })
})
