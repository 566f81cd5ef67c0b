import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { suite, test } from 'node:test'
import { openUnreadAnswers } from './unread-answers.ts'

const ANSWER = Buffer.alloc(8 * 1024 * 1024, 'x')

/** Server of 8 MiB answers: more than the kernel buffers for a caller that does not read. */
async function serve(bytesMax: number) {
  const unread = openUnreadAnswers(bytesMax)
  const server = createServer((_request, response) => {
    response.end(ANSWER)
    unread.watch(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    server,
    unread,
    [Symbol.dispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Sends a request and does not read. */
async function ask(server: Server): Promise<Socket> {
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').pause()
  socket.on('error', () => {})
  await once(socket, 'connect')
  const answered = once(server, 'request')
  socket.write('GET / HTTP/1.1\r\nHost: daybook.test\r\n\r\n')
  await answered
  return socket
}

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !holds(); turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
  assert.ok(holds(), 'within five seconds')
}

suite('unread answers', () => {
  test('are kept up to a limit of bytes; above it the connection of the oldest one is closed', async () => {
    using stage = await serve(20 * 1024 * 1024)
    const { server, unread } = stage
    const sockets = [await ask(server), await ask(server)]
    assert.ok(unread.bytes() > 0)
    const first = sockets[0]
    assert.ok(first !== undefined && !first.destroyed)
    for (let more = 0; more < 3; more += 1) sockets.push(await ask(server))
    assert.ok(unread.bytes() <= 20 * 1024 * 1024)
    const ended = once(first, 'close')
    first.resume()
    await ended
    for (const socket of sockets) socket.destroy()
    await until(() => unread.bytes() === 0)
  })

  test('cost nothing once they are read', async () => {
    using stage = await serve(20 * 1024 * 1024)
    const { server, unread } = stage
    const socket = await ask(server)
    socket.resume()
    await until(() => socket.bytesRead >= ANSWER.length && unread.bytes() === 0)
    socket.destroy()
  })
})
