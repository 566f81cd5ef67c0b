import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { suite, test } from 'node:test'
import { endOldConnections } from './listener-limits.ts'

const MAX = 4

suite('a listener whose connections all wait for an answer', () => {
  test('answers a further one, and ends the oldest', async () => {
    let crowded = 0
    const server = createServer((request, response) => {
      if (request.url === '/late') return void response.end('late')
      connections.hold(request.socket)
    })
    const connections = endOldConnections(server, MAX, () => (crowded += 1))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    const ended: number[] = []
    const sockets: Socket[] = []
    for (let index = 0; index < MAX; index += 1) {
      const asked = once(server, 'request')
      const socket = connect(address.port, '127.0.0.1', () =>
        socket.write('GET / HTTP/1.1\r\nHost: w\r\n\r\n'),
      )
      socket.on('error', () => {}).on('close', () => ended.push(index))
      sockets.push(socket)
      await asked
    }
    const late = await fetch(`http://127.0.0.1:${address.port}/late`)
    assert.equal(await late.text(), 'late')
    while (ended.length === 0) await once(sockets[0] ?? server, 'close')
    assert.deepEqual(ended, [0])
    assert.equal(crowded, 1)
    for (const socket of sockets) socket.destroy()
    server.close()
    server.closeAllConnections()
  })
})
