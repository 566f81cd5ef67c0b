import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { DatabaseTarget } from '../../src/command/database/database-url.ts'

/** Refusal of a connection: SQLSTATE and message. */
type Refusal = Readonly<{ code: string; message: string }>

/** A server that speaks as much of the protocol of PostgreSQL as a session needs, and has no database. */
type FakePostgres = AsyncDisposable &
  Readonly<{
    target: DatabaseTarget
    /** Connections so far, with those that were refused. */
    connections(): number
    /** Cuts all connections. */
    cut(): void
  }>

const text = (value: string): Uint8Array => Buffer.from(`${value}\0`)

/** Listens on a free port. `refuse` is called with the number of each connection, from 1. */
export async function openFakePostgres(
  refuse: (connection: number) => Refusal | null = () => null,
): Promise<FakePostgres> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    serve(socket, connections, refuse(connections))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const cut = (): void => sockets.forEach((socket) => socket.destroy())
  return {
    target: {
      hosts: [{ host: '127.0.0.1', port }],
      user: 'daybook',
      password: null,
      database: 'daybook',
      tls: false,
      connectSeconds: 60,
      applicationName: 'daybook',
      options: null,
      shown: 'a fake server',
    },
    connections: () => connections,
    cut,
    async [Symbol.asyncDispose]() {
      cut()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Answers the start of a connection, and then each simple statement. */
function serve(socket: Socket, connection: number, refusal: Refusal | null): void {
  const ready = message('Z', Buffer.from('I'))
  let received = Buffer.alloc(0)
  let isStarted = false
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    for (;;) {
      // The first message has no type.
      const start = isStarted ? 1 : 0
      if (received.length < start + 4) return
      const end = start + received.readUInt32BE(start)
      if (received.length < end) return
      const [type, body] = [String.fromCharCode(received[0] ?? 0), received.toString('utf8', start + 4, end)]
      received = received.subarray(end)
      if (!isStarted && refusal !== null) {
        socket.end(
          message('E', text('SFATAL'), text(`C${refusal.code}`), text(`M${refusal.message}`), text('')),
        )
        return
      }
      if (!isStarted) socket.write(Buffer.concat([message('R', new Uint8Array(4)), ready]))
      else if (type === 'Q') socket.write(Buffer.concat([answer(body, connection), ready]))
      isStarted = true
    }
  })
}

/** The row of an answer: who the server is, or a 1. */
function answer(statement: string, connection: number): Uint8Array {
  return statement.includes('pg_control_system')
    ? rows({ system: '7', started: '2026-01-01', pid: String(connection), timeline: '00000001' })
    : rows({ one: '1' })
}

function rows(row: Readonly<Record<string, string>>): Uint8Array {
  const count = (value: number): Uint8Array => Uint8Array.of(value >> 8, value & 255)
  const columns = Object.keys(row).map((name) => Buffer.concat([text(name), new Uint8Array(18)]))
  const values = Object.values(row).map((value) => Buffer.concat([size(value.length), Buffer.from(value)]))
  return Buffer.concat([
    message('T', count(columns.length), ...columns),
    message('D', count(values.length), ...values),
    message('C', text('SELECT 1')),
  ])
}

function message(type: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), size(body.length + 4), body])
}

function size(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
