import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { suite, test } from 'node:test'
import { openRequestQueues, REQUESTS_PER_CONNECTION_MAX } from './request-queues.ts'

const requestOf = (headers = '', target = '/'): string =>
  `GET ${target} HTTP/1.1\r\nHost: daybook.test\r\n${headers}\r\n`
const REQUEST = requestOf()
/** Bytes for ten short requests that wait, and not for eleven. */
const TEN_SHORT_BYTES = 34 * 1024

/** Server that gives each answer when the test says so. */
async function serve(waitingBytesMax?: number) {
  const begun: ServerResponse[] = []
  const queues = openRequestQueues(
    (_request, response) => begun.push(response),
    waitingBytesMax === undefined ? {} : { waitingBytesMax },
  )
  const server = createServer((request, response) => queues.enter(request, response))
  server.maxRequestsPerSocket = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    begun,
    end: queues.end,
    /** Opens a connection and sends this text. */
    async send(text: string) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.write(text)
      return socket
    },
    /** Gives that many answers on a connection, each after the one before it is taken. */
    async answer({ localPort }: Socket, count: number): Promise<void> {
      const own = () => begun.filter(({ req }) => req.socket.remotePort === localPort)
      for (let number = 1; number <= count; number += 1) {
        await until(() => own().length === number)
        own().at(-1)?.end('x')
      }
    },
    [Symbol.dispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !holds(); turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
  assert.ok(holds(), 'within five seconds')
}

suite('the requests of one connection', () => {
  test('run one at a time, each after the answer before it is taken', async () => {
    using stage = await serve()
    const socket = await stage.send(REQUEST.repeat(3))
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    for (const number of [1, 2, 3]) {
      await until(() => stage.begun.length === number)
      stage.begun.at(-1)?.end(`answer ${number}`)
    }
    await until(() => text.includes('answer 3'))
    assert.deepEqual(text.match(/answer \d/g), ['answer 1', 'answer 2', 'answer 3'])
  })

  test('wait while the answer before them is not read', async () => {
    using stage = await serve()
    const socket = await stage.send(REQUEST.repeat(2))
    socket.pause()
    await until(() => stage.begun.length === 1)
    // More than the kernel buffers for a caller that does not read.
    stage.begun[0]?.end(Buffer.alloc(64 * 1024 * 1024))
    const other = await stage.send(REQUEST)
    await until(() => stage.begun.length === 2)
    assert.notEqual(stage.begun[1]?.req.socket.remotePort, socket.localPort)
    other.destroy()
    socket.resume()
    await until(() => stage.begun.length === 3)
  })

  test('are at most a thousand, and the last answer closes the connection', async () => {
    using stage = await serve()
    const socket = await stage.send(REQUEST.repeat(REQUESTS_PER_CONNECTION_MAX + 100))
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    const closed = once(socket, 'close')
    let answered = 0
    const answering = setInterval(() => {
      for (; answered < stage.begun.length; answered += 1) stage.begun[answered]?.end('x')
    }, 1)
    await closed
    clearInterval(answering)
    assert.equal(text.match(/HTTP\/1\.1 200/g)?.length, REQUESTS_PER_CONNECTION_MAX)
    assert.equal(text.match(/Connection: close/g)?.length, 1)
    assert.doesNotMatch(text, /503/)
  })

  test('do not run after repeated calls of end, which closes the connection after the last answer', async () => {
    using stage = await serve()
    const socket = await stage.send(REQUEST.repeat(2))
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    await until(() => stage.begun.length === 1)
    const [first] = stage.begun
    assert.ok(first !== undefined)
    const listeners = first.listenerCount('close')
    for (let index = 0; index < 100; index += 1) assert.equal(stage.end(first.req.socket), true)
    socket.write(REQUEST)
    first.end('x')
    await until(() => stage.begun.length === 2)
    assert.ok((stage.begun[1]?.listenerCount('close') ?? 0) <= listeners + 1)
    stage.begun[1]?.end('y')
    await once(socket, 'close')
    assert.equal(text.match(/HTTP\/1\.1 200/g)?.length, 2)
    assert.match(text, /Connection: close/)
  })

  test('have a limit of bytes over all connections; a connection that exceeds it is closed', async () => {
    using stage = await serve(TEN_SHORT_BYTES)
    const first = await stage.send(REQUEST.repeat(11))
    await until(() => stage.begun.length === 1)
    const second = await stage.send(REQUEST.repeat(2))
    await once(second, 'close')
    assert.equal(first.destroyed, false)
    // Closing a connection frees the bytes of its waiting requests.
    first.destroy()
    const third = await stage.send(REQUEST.repeat(5))
    await until(() => stage.begun.some(({ req }) => req.socket.remotePort === third.localPort))
    assert.equal(third.destroyed, false)
  })

  for (const [what, long] of [
    ['many headers', requestOf(Array.from({ length: 90 }, (_, index) => `X-${index}: x\r\n`).join(''))],
    ['a long header', requestOf(`X: ${'x'.repeat(7_000)}\r\n`).repeat(3)],
    ['a long target', requestOf('', '/?'.padEnd(7_000, 'x')).repeat(3)],
    ['a body', `${requestOf('Content-Length: 10\r\n')}${'x'.repeat(10)}`],
    ['a body of any length', `${requestOf('Transfer-Encoding: chunked\r\n')}0\r\n\r\n`],
  ] as const) {
    test(`with ${what} use more of that limit than short ones`, async () => {
      using stage = await serve(TEN_SHORT_BYTES)
      const first = await stage.send(REQUEST.repeat(8))
      await until(() => stage.begun.length === 1)
      const second = await stage.send(REQUEST + long)
      await once(second, 'close')
      // A request frees its bytes when it begins, so there is room for ten again.
      await stage.answer(first, 8)
      const third = await stage.send(REQUEST.repeat(11))
      await stage.answer(third, 11)
    })
  }
})
