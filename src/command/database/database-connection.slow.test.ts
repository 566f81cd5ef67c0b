import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import dns from 'node:dns'
import { getEventListeners, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { mock, suite, test } from 'node:test'
import { openFakePostgres } from '../../../test/database/fake-postgres.ts'
import { freePort } from '../../../test/processes/free-ports.ts'
import { until } from '../../../test/processes/other-program.ts'
import { skipWithout } from '../../../test/processes/test-needs.ts'
import { connectDatabase, DatabaseError } from './database-connection.ts'

const TARGET = {
  user: 'daybook',
  password: null,
  database: 'daybook',
  connectSeconds: 600,
  applicationName: 'daybook',
  options: null,
  shown: 'a database',
} as const
/** Listens to a port that it prints, and takes no connection. Its queue holds one. */
const FULL_SERVER = `
import socket, time
server = socket.socket()
server.bind(('127.0.0.1', 0))
server.listen(0)
print(server.getsockname()[1], flush=True)
time.sleep(600)
`

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
      message: 'the server gave no right answer about TLS',
      passes: false,
    })
  })

  test('names a server that takes a connection and stays silent', async () => {
    await using server = createServer((socket) => socket.on('error', () => undefined).resume())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const target = { ...TARGET, hosts: [{ host: '127.0.0.1', port }], connectSeconds: 2, tls: false } as const
    await assert.rejects(connectDatabase(target, AbortSignal.timeout(300_000)), {
      message: 'the server took the connection, and gave no answer in time',
      passes: true,
    })
  })

  test('that is lost leaves no listener for the stop', async () => {
    await using server = await openFakePostgres()
    const stop = new AbortController()
    const connection = await connectDatabase(server.target, stop.signal)
    server.cut()
    await connection.lost
    assert.deepEqual(getEventListeners(stop.signal, 'abort'), [])
    await assert.rejects(connection.ask('SELECT 1'), { message: 'the connection was closed', passes: true })
  })

  test('to several servers of which none answers names the last reason at once', async () => {
    const hosts = await Promise.all([freePort(), freePort()])
    const target = {
      ...TARGET,
      hosts: hosts.map((port) => ({ host: '127.0.0.1', port })),
      tls: false,
    } as const
    await assert.rejects(connectDatabase(target, AbortSignal.timeout(300_000)), {
      message: `connect ECONNREFUSED 127.0.0.1:${hosts[1]}`,
      passes: true,
    })
  })

  test('fails for now when the resolver cannot tell the address of its server', async () => {
    const lookup = mock.method(dns, 'lookup', (name: string, ...rest: readonly unknown[]) => {
      const tell = rest.at(-1)
      assert.ok(typeof tell === 'function')
      tell(Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), { code: 'EAI_AGAIN' }))
    })
    const target = { ...TARGET, hosts: [{ host: 'away.test', port: 5432 }], tls: false } as const
    try {
      await assert.rejects(connectDatabase(target, AbortSignal.timeout(300_000)), {
        message: 'getaddrinfo EAI_AGAIN away.test',
        passes: true,
      })
    } finally {
      lookup.mock.restore()
    }
  })

  test('gives each server a time of its own', { skip: skipWithout('python3') }, async () => {
    const full = spawn('python3', ['-c', FULL_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(full.stdout, 'data')) as [Buffer]
    const waiting = connect(Number(line.toString()), '127.0.0.1')
    await using server = createServer((socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .end(),
    )
    try {
      await Promise.all([once(waiting, 'connect'), once(server.listen(0, '127.0.0.1'), 'listening')])
      const { port } = server.address() as AddressInfo
      const hosts = [Number(line.toString()), port].map((one) => ({ host: '127.0.0.1', port: one }))
      const target = { ...TARGET, hosts, connectSeconds: 1, tls: false } as const
      // The second server is reached, and closes the connection.
      await assert.rejects(connectDatabase(target, AbortSignal.timeout(300_000)), {
        message: 'the connection was closed',
        passes: true,
      })
    } finally {
      waiting.destroy()
      full.kill()
    }
  })
})
