import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { suite, test } from 'node:test'
import { until } from '../../../test/processes/other-program.ts'
import { connectDatabase, DatabaseError } from './database-connection.ts'

const TARGET = {
  user: 'daybook',
  password: null,
  database: 'daybook',
  // The client itself gives up after this time.
  connectSeconds: 600,
  applicationName: 'daybook',
  options: null,
  shown: 'a database',
} as const
suite('a connection to a database', () => {
  test('that is stopped while its socket connects leaves no socket behind', async () => {
    const accepted: Socket[] = []
    await using server = createServer((socket) => accepted.push(socket.on('error', () => undefined).resume()))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const stop = new AbortController()
    const target = { ...TARGET, hosts: [{ host: '127.0.0.1', port }], tls: false } as const
    const connecting = connectDatabase(target, stop.signal)
    // The client asks for its socket a moment later, and the socket connects later still.
    await Promise.resolve()
    stop.abort()
    await assert.rejects(connecting, DatabaseError)
    await until('the socket is accepted', async () => accepted.length > 0)
    await until('the socket is closed', async () => accepted.every(({ destroyed }) => destroyed))
  })

  test('fails at once when the server closes it instead of an answer about TLS', async () => {
    await using server = createServer((socket) => socket.once('data', () => socket.end()))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const target = { ...TARGET, hosts: [{ host: '127.0.0.1', port }], tls: 'prefer' } as const
    await assert.rejects(connectDatabase(target, AbortSignal.timeout(300_000)), {
      message: 'the connection was closed',
      passes: true,
    })
  })

  test('refuses bytes behind the answer about TLS, which are not encrypted', async () => {
    await using server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.write('Sx'))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const target = { ...TARGET, hosts: [{ host: '127.0.0.1', port }], tls: 'prefer' } as const
    await assert.rejects(connectDatabase(target, AbortSignal.timeout(300_000)), {
      message: 'the server sent more than its answer about TLS',
      passes: false,
    })
  })
})
