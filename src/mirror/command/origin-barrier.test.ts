import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openBarrierCell } from '../../serve/following/barrier-cell.ts'
import { askOriginForHead } from './origin-barrier.ts'

const LOG = '0'.repeat(32)
const REFUSAL = JSON.stringify({ code: 'cursor-ahead', head: 7 })

/** The head that an origin names which answers with this body. */
async function headOf(body: Buffer): Promise<number | null> {
  const server = createServer((_request, response) => {
    response.setHeader('daybook-log', LOG)
    response.setHeader('content-encoding', 'gzip')
    response.end(gzipSync(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const stop = new AbortController()
  const cell = openBarrierCell()
  const asked = cell.ask(5_000)
  const origin = { url: `http://127.0.0.1:${port}`, log: LOG, follows: () => true }
  const running = askOriginForHead(cell.buffer, origin, stop.signal)
  const head = await asked
  stop.abort()
  await running
  server.close()
  server.closeAllConnections()
  return head
}

suite('the question of a mirror for the head of the whole log', () => {
  test('is answered by the origin’s refusal of a cursor beyond every log', async () => {
    assert.equal(await headOf(Buffer.from(REFUSAL)), 7)
  })

  test('reads no more of an answer than a refusal can have, also when it is packed', async () => {
    assert.equal(await headOf(Buffer.concat([Buffer.from(REFUSAL), Buffer.alloc(1_000_000, ' ')])), null)
  })
})
