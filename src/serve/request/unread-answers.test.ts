import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { suite, test } from 'node:test'
import { openUnreadAnswers } from './unread-answers.ts'

const ANSWER = Buffer.alloc(8 * 1024 * 1024, 'x')

/**
 * Server of 8 MiB answers: more than the kernel buffers for a caller that does not read. The caller is the path, and
 * answers to `?shared` have one array.
 */
async function serve(bytesMax: number) {
  const unread = openUnreadAnswers(bytesMax)
  const server = createServer(({ url = '' }, response) => {
    const [caller = '', query] = url.split('?')
    response.end(ANSWER)
    unread.watch(response, caller, query === 'shared' ? ANSWER : null)
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
async function ask(server: Server, target = '/'): Promise<Socket> {
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').pause()
  socket.on('error', () => {})
  await once(socket, 'connect')
  const answered = once(server, 'request')
  socket.write(`GET ${target} HTTP/1.1\r\nHost: daybook.test\r\n\r\n`)
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

  test('that share a body count it once, until the last of them is read', async () => {
    using stage = await serve(20 * 1024 * 1024)
    const { server, unread } = stage
    const sockets: Socket[] = []
    for (let asked = 0; asked < 20; asked += 1) sockets.push(await ask(server, `/${asked % 3}?shared`))
    const bytes = unread.bytes()
    assert.ok(bytes >= ANSWER.length && bytes < ANSWER.length + 20 * 1024, `${bytes} bytes`)
    const [last, ...others] = sockets
    for (const socket of others) socket.destroy()
    await until(() => unread.bytes() < ANSWER.length + 1024)
    assert.ok(unread.bytes() >= ANSWER.length)
    last?.destroy()
    await until(() => unread.bytes() === 0)
  })

  test('above the limit cost the caller that holds most its oldest connection, and no other caller', async () => {
    using stage = await serve(36 * 1024 * 1024)
    const { server, unread } = stage
    // Equal questions hold one body, however many they are.
    const others = [await ask(server, '/reader')]
    for (let asked = 0; asked < 8; asked += 1) others.push(await ask(server, '/many?shared'))
    const greedy = [await ask(server, '/greedy'), await ask(server, '/greedy')]
    assert.ok(unread.bytes() > 32 * 1024 * 1024)
    const closed = greedy[0] === undefined ? undefined : once(greedy[0].resume(), 'close')
    greedy.push(await ask(server, '/greedy'))
    await closed
    assert.ok(unread.bytes() > 32 * 1024 * 1024 && unread.bytes() <= 36 * 1024 * 1024)
    for (const socket of others) {
      socket.resume()
      await until(() => socket.bytesRead > ANSWER.length)
      socket.destroy()
    }
    for (const socket of greedy) socket.destroy()
    await until(() => unread.bytes() === 0)
  })

  test('above the limit cost no caller whose array many others have', async () => {
    using stage = await serve(28 * 1024 * 1024)
    const { server, unread } = stage
    const sharing: Socket[] = []
    for (let asked = 0; asked < 16; asked += 1) sharing.push(await ask(server, `/${asked % 8}?shared`))
    const others = [await ask(server, '/one'), await ask(server, '/two')]
    assert.ok(unread.bytes() > 24 * 1024 * 1024)
    const closed = others[0] === undefined ? undefined : once(others[0].resume(), 'close')
    others.push(await ask(server, '/three'))
    await closed
    for (const socket of sharing) {
      socket.resume()
      await until(() => socket.bytesRead > ANSWER.length)
    }
    for (const socket of [...sharing, ...others]) socket.destroy()
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
