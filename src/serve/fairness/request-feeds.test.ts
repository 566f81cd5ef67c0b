import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openRequestFeeds } from './request-feeds.ts'
import { openRequestQueues } from './request-queues.ts'

/**
 * Server that answers each request with its path, and counts the requests of a connection that waited at the same time.
 */
async function serve(tail = '') {
  let waitedMost = 0
  let entered = 0
  let answered = 0
  const queues = openRequestQueues((request, response) => response.end(`${request.url};${tail}`), {
    onTaken: (socket) => feeds.resume(socket),
  })
  const server = createServer((request, response) => {
    entered += 1
    response.once('close', () => (answered += 1))
    queues.enter(request, response)
    waitedMost = Math.max(waitedMost, entered - answered)
  })
  server.maxRequestsPerSocket = 0
  const feeds = openRequestFeeds(server, queues.isFull)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    waitedMost: () => waitedMost,
    async open(): Promise<Socket> {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.on('error', () => {})
      await once(socket, 'connect')
      return socket
    },
    [Symbol.dispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const requestOf = (number: number, header = ''): string =>
  `GET /${number} HTTP/1.1\r\nHost: a\r\n${header}\r\n`

/** Paths of the answers, once there are `count` of them. */
async function answersOn(socket: Socket, count: number): Promise<readonly number[]> {
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    const numbers = [...text.matchAll(/\/(\d+);/g)].map(([, number]) => Number(number))
    if (numbers.length >= count) return numbers
  }
  return []
}

suite('the bytes of a connection', () => {
  test('are parsed a slice at a time, and the rest when the earlier requests are answered', async () => {
    using stage = await serve()
    const socket = await stage.open()
    const count = 900
    socket.write(Array.from({ length: count }, (_, index) => requestOf(index)).join(''))
    const answers = await answersOn(socket, count)
    assert.deepEqual(
      answers,
      Array.from({ length: count }, (_, index) => index),
    )
    assert.ok(stage.waitedMost() < 200, `${stage.waitedMost()} waited`)
  })

  test('wait while the answers are not read, without closing the connection', async () => {
    using stage = await serve('x'.repeat(300_000))
    const socket = await stage.open()
    socket.pause()
    const padded = (index: number): string => requestOf(index, `X-A: ${'x'.repeat(1_500)}\r\n`)
    socket.write(Array.from({ length: 40 }, (_, index) => padded(index)).join(''))
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal((await answersOn(socket, 40)).length, 40)
  })

  test('are answered in order wherever they are cut, and however long their headers are', async () => {
    using stage = await serve()
    const requests = fc.array(fc.nat(6_000), { minLength: 1, maxLength: 20 })
    const cuts = fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(requests, cuts, async (lengths, sizes) => {
        const text = lengths
          .map((length, index) => requestOf(index, `X-A: ${'x'.repeat(length)}\r\n`))
          .join('')
        const socket = await stage.open()
        const answered = answersOn(socket, lengths.length)
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1
          socket.write(text.slice(at, at + size))
          at += size
          if (turn % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
        }
        assert.deepEqual(
          await answered,
          lengths.map((_, index) => index),
        )
        socket.destroy()
      }),
      { numRuns: 60 },
    )
  })
})
