import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../stage/stream-client.ts'
import { type FaultRelay, openFaultRelay } from './fault-relay.ts'

/** Time in which bytes would have passed. */
const QUIET_MS = 60

type Echo = Readonly<{ relay: FaultRelay; arrived(): string; open(): Promise<Client> }> & AsyncDisposable
type Client = Readonly<{ socket: Socket; echoed(): string; isClosed(): boolean }>

/** A server that sends back what arrives, behind a relay. */
async function openEcho(): Promise<Echo> {
  let arrived = ''
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      arrived += bytes.toString()
      socket.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const relay = await openFaultRelay(() => (typeof address === 'object' ? (address?.port ?? null) : null))
  return {
    relay,
    arrived: () => arrived,
    async open() {
      const socket = connect(relay.port, '127.0.0.1')
      let [echoed, closed] = ['', false]
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => (echoed += bytes.toString()))
      socket.once('close', () => (closed = true))
      await once(socket, 'connect')
      return { socket, echoed: () => echoed, isClosed: () => closed }
    },
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      server.close()
    },
  }
}

async function greeted(echo: Echo): Promise<Client> {
  const client = await echo.open()
  client.socket.write('a')
  await until(() => client.echoed() === 'a')
  return client
}

suite('a relay with faults', () => {
  const stalls = [
    { way: 'both', isSent: false },
    { way: 'out', isSent: false },
    { way: 'back', isSent: true },
  ] as const
  for (const { way, isSent } of stalls)
    test(`holds bytes during a stall (${way}), and sends them afterwards`, async () => {
      await using echo = await openEcho()
      const client = await greeted(echo)
      assert.equal(echo.relay.stall(way), 1)
      client.socket.write('b')
      if (isSent) await until(() => echo.arrived() === 'ab')
      await sleep(QUIET_MS)
      assert.deepEqual(
        [echo.arrived(), client.echoed(), client.isClosed()],
        [isSent ? 'ab' : 'a', 'a', false],
      )
      echo.relay.heal()
      await until(() => client.echoed() === 'ab')
      client.socket.destroy()
    })

  test('closes all connections and refuses new ones until it is healed', async () => {
    await using echo = await openEcho()
    const client = await greeted(echo)
    assert.equal(echo.relay.refuse(), 1)
    await until(() => client.isClosed())
    await assert.rejects(greeted(echo))
    echo.relay.heal()
    const healed = await greeted(echo)
    healed.socket.destroy()
  })

  test('keeps the near end open and silent while the far end is gone', async () => {
    await using echo = await openEcho()
    const client = await greeted(echo)
    assert.equal(echo.relay.halfOpen(), 1)
    client.socket.write('b')
    await sleep(QUIET_MS)
    assert.deepEqual([client.echoed(), client.isClosed()], ['a', false])
    echo.relay.heal()
    await until(() => client.isClosed())
    assert.equal(echo.arrived(), 'a')
  })

  test('delays bytes', async () => {
    await using echo = await openEcho()
    const client = await greeted(echo)
    echo.relay.delay(QUIET_MS)
    const startedMs = performance.now()
    client.socket.write('b')
    await until(() => client.echoed() === 'ab')
    assert.ok(performance.now() - startedMs >= QUIET_MS)
    client.socket.destroy()
  })
})
