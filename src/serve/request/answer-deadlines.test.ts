import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { ANSWER_MS_MAX, openAnswerDeadlines } from './answer-deadlines.ts'

test('an unread answer is aborted and counted at the time limit; a stream has none', async (t) => {
  let nowMs = 0
  const counted: (readonly [string, number, number | null])[] = []
  const ended = Promise.withResolvers<undefined>()
  const tally = {
    add(...one: readonly [string, number, number | null]) {
      counted.push(one)
      ended.resolve(undefined)
    },
  }
  const deadlines = openAnswerDeadlines(() => nowMs)
  const server = createServer((request, response) => {
    deadlines.begin(response, { method: 'GET', tally, startedMs: nowMs })
    if (request.url === '/endless') deadlines.lift(response)
    response.writeHead(200)
    response.write('begun')
  }).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const [limited, endless] = ['/limited', '/endless'].map((path) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    return socket
  })
  assert.ok(limited !== undefined && endless !== undefined)
  await Promise.all([once(limited, 'data'), once(endless, 'data')])
  nowMs = ANSWER_MS_MAX
  limited.resume()
  await ended.promise
  assert.deepEqual(counted, [['GET', 200, ANSWER_MS_MAX / 1000]])
  assert.equal(endless.destroyed, false)
  endless.destroy()
})
