import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { MESSAGE_BYTES_MAX } from '../../src/engine/log-engine.ts'
import { connectNats, openNats } from '../../src/engine/nats/nats-connection.ts'
import { commitsSubject } from '../../src/engine/nats/nats-names.ts'
import { accountsConfig, makeNatsUser } from '../../src/engine/nats/nats-setup.ts'
import type { NatsTarget } from '../../src/engine/nats/nats-target.ts'
import { parseNatsUrl } from '../../src/engine/nats/nats-target.ts'
import { freePort, freePorts } from '../processes/free-ports.ts'
import { endProgram, spawnTied, until } from '../processes/other-program.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { NATS_NEEDED, NATS_SERVER } from './nats-program.ts'

/** Connections: each dials its brokers in an order of its own. */
const CONNECTIONS = 8

const HOUR_MS = 3_600_000
const monotonicMs = (): number => performance.now()

/** A broker without others. */
type LoneBroker = Readonly<{
  port: number
  start(): Promise<void>
  pause(): void
  kill(): Promise<void>
}>

/** Brokers that do not know each other, and a user who may connect with each. Disposal ends them. */
type LoneBrokers = AsyncDisposable &
  Readonly<{
    brokers: readonly [LoneBroker, LoneBroker]
    target: NatsTarget
    running: string
    /** Connects with either of them, until disposal. */
    connect(): Promise<NatsConnection>
  }>

async function openLoneBrokers(): Promise<LoneBrokers> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'daybook-lone-brokers-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const running = makeNatsUser()
  const accounts = accountsConfig(makeNatsUser().publicKey, running.publicKey)
  const [one = 0, other = 0] = await freePorts(2)
  const brokerAt = (port: number): LoneBroker => {
    const home = join(folder, `${port}`)
    mkdirSync(home)
    const config = join(home, 'nats.conf')
    writeFileSync(
      config,
      `server_name: broker-${port}
listen: 127.0.0.1:${port}
max_payload: 5MB
jetstream { store_dir: "${home}" }
${accounts}`,
    )
    let child: ChildProcess | null = null
    const kill = async (): Promise<void> => {
      if (child !== null) await endProgram(child, 'SIGKILL')
      child = null
    }
    stack.defer(kill)
    return {
      port,
      async start() {
        child = spawnTied(NATS_SERVER ?? '', ['-c', config], { stdio: 'ignore' })
        await until('the broker takes connections', () => takesConnections(port))
      },
      pause: () => void child?.kill('SIGSTOP'),
      kill,
    }
  }
  const brokers = [brokerAt(one), brokerAt(other)] as const
  const target = parseNatsUrl(`nats://127.0.0.1:${one},127.0.0.1:${other}`, () => '')
  const kept = stack.move()
  return {
    brokers,
    target,
    running: running.seed,
    async connect() {
      const made: NatsConnection[] = []
      // A slow machine may need longer than the time limit of a connection.
      await until('a broker takes the connection', async () => {
        made.push(await connectNats(target, running.seed, monotonicMs))
        return true
      })
      const [nats = assert.fail('there is no connection')] = made
      kept.defer(() => nats.close())
      return nats
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}

/** A server that takes connections and says nothing, as a paused broker does. Disposal ends it. */
function openSilentServer(port: number): Readonly<{ open(): number }> & Disposable {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
  })
  server.listen(port, '127.0.0.1')
  return {
    open: () => sockets.size,
    [Symbol.dispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Resolves when a connection is there again. */
async function reconnected(nats: NatsConnection): Promise<void> {
  for await (const { type } of nats.status()) if (type === 'reconnect') return
}

suite(
  'a connection with NATS',
  { skip: skipUnless(NATS_SERVER !== undefined, NATS_NEEDED), timeout: 300_000 },
  () => {
    test('takes a broker that was away at the start, once it is back', async () => {
      await using lone = await openLoneBrokers()
      const [away, there] = lone.brokers
      await there.start()
      let again = 0
      for (let count = 0; count < CONNECTIONS; count += 1) {
        const nats = await lone.connect()
        void reconnected(nats).then(() => (again += 1))
      }
      await away.start()
      await there.kill()
      await until('all are connected again', async () => again === CONNECTIONS)
    })

    test('is there again soon after the wall clock was put back', async (t) => {
      await using lone = await openLoneBrokers()
      const [broker] = lone.brokers
      await broker.start()
      const nats = await lone.connect()
      const wallMs = Date.now
      t.mock.method(Date, 'now', () => wallMs() - HOUR_MS)
      let isBack = false
      void reconnected(nats).then(() => (isBack = true))
      await broker.kill()
      await broker.start()
      await until('it is connected again', async () => isBack)
    })

    test('leaves a paused broker while a large message waits to be sent', async () => {
      await using lone = await openLoneBrokers()
      for (const broker of lone.brokers) await broker.start()
      const nats = await lone.connect()
      let isBack = false
      void reconnected(nats).then(() => (isBack = true))
      const left = nats.getServer()
      lone.brokers.find(({ port }) => left.endsWith(`:${port}`))?.pause()
      nats.publish(commitsSubject(1), new Uint8Array(MESSAGE_BYTES_MAX))
      // The bytes reach the socket later.
      await setImmediate()
      await nats.reconnect()
      await until('it is connected again', async () => isBack)
      assert.notEqual(nats.getServer(), left)
    })

    test('leaves no socket behind when it is closed while it dials', async () => {
      await using lone = await openLoneBrokers()
      const [broker] = lone.brokers
      await broker.start()
      const nats = await lone.connect()
      await broker.kill()
      using stack = new DisposableStack()
      const silent = lone.brokers.map(({ port }) => stack.use(openSilentServer(port)))
      const open = (): number => silent.reduce((sum, server) => sum + server.open(), 0)
      await until('it dials', async () => open() > 0)
      await nats.close()
      await until('no socket is open', async () => open() === 0)
    })

    test('leaves no socket behind when no broker takes it', async () => {
      const port = await freePort()
      using silent = openSilentServer(port)
      const target = parseNatsUrl(`nats://127.0.0.1:${port}`, () => '')
      await assert.rejects(
        connectNats(target, null, monotonicMs),
        /take no connection: the last one says: timeout/,
      )
      await until('no socket is open', async () => silent.open() === 0)
    })

    test('measures the clocks exactly while ours is put back', async () => {
      await using lone = await openLoneBrokers()
      await lone.brokers[0].start()
      let asked = 0
      const nowMs = (): number => Date.now() - (asked++ === 0 ? 0 : HOUR_MS)
      const { target, running } = lone
      await using engine = await openNats({ target, credentials: running, stream: 1, nowMs, monotonicMs })
      const beganMs = performance.now()
      const { offsetMs, errorMs } = await engine.clockOffset()
      assert.ok(errorMs > 0 && errorMs <= (performance.now() - beganMs) / 2, `an error of ${errorMs} ms`)
      // Both clocks are read in whole milliseconds.
      assert.ok(Math.abs(offsetMs) <= errorMs + 1, `an offset of ${offsetMs} ms, error ${errorMs} ms`)
    })
  },
)
