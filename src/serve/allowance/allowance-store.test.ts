import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { skipWithout } from '../../../test/stage/test-needs.ts'
import { type AllowanceStore, openAllowanceStore, type StoreSignal } from './allowance-store.ts'
import { allocateAllowance, type Allowance, openAllowance, type Policy } from './allowance.ts'

const DEFAULT: Policy = { name: 'default', requests: 60, windowMs: 60_000 }
const BRIEF: Policy = { name: 'brief', requests: 3, windowMs: 1000 }
const BOUND_MS = 10_000

type Server = AsyncDisposable & Readonly<{ url: string; port: number; child: ChildProcess }>

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  server.close()
  await once(server, 'close')
  return address.port
}

async function startServer(port: number): Promise<Server> {
  const dir = await mkdtemp(join(tmpdir(), 'daybook-store-'))
  const settings = { port, bind: '127.0.0.1', dir, save: '', appendonly: 'no' }
  const child = spawn(
    'redis-server',
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
  )
  await ready(child)
  async function stop(): Promise<void> {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await rm(dir, { recursive: true, force: true })
  }
  return { url: `redis://127.0.0.1:${port}`, port, child, [Symbol.asyncDispose]: stop }
}

async function ready(child: ChildProcess): Promise<void> {
  assert.ok(child.stdout)
  for await (const chunk of child.stdout) if (String(chunk).includes('Ready to accept connections')) break
  child.stdout.resume()
}

function ownAllowance(policy: Policy): Allowance {
  return openAllowance(allocateAllowance(policy, 'a secret of this test alone', 100))
}

function monotonicMs(): number {
  return Math.floor(performance.now())
}

async function node(
  server: Pick<Server, 'url'>,
  signals: StoreSignal[] = [],
  timeoutMs = 2000,
): Promise<AllowanceStore> {
  return openAllowanceStore({ url: server.url, timeoutMs, report: (signal) => signals.push(signal) })
}

/** A connection to the store beside those of the nodes. */
async function openProbe(server: Server) {
  const probe = await createClient({ url: server.url }).connect()
  return {
    probe,
    async [Symbol.asyncDispose](): Promise<void> {
      probe.destroy()
    },
  }
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const endMs = monotonicMs() + BOUND_MS
  while (!(await holds())) {
    assert.ok(monotonicMs() < endMs, `${what} within ${BOUND_MS} ms`)
    // Lets sockets and timers run even if `holds` never waits.
    await setImmediate()
  }
}

suite('an allowance shared by machines', { skip: skipWithout('redis-server') }, () => {
  test('accepts exactly as many requests as that of one machine', async () => {
    await using server = await startServer(await freePort())
    await using first = await node(server)
    await using second = await node(server)
    await using third = await node(server)
    const decide = [first, second, third].map((store) => store.share(ownAllowance(DEFAULT)))
    const decisions = await Promise.all(
      Array.from({ length: 240 }, async (_, n) => decide[n % 3]?.('203.0.113.9', monotonicMs())),
    )
    const accepted = decisions.filter((decision) => decision?.allowed)
    assert.equal(accepted.length, 60)
    assert.deepEqual(
      accepted.map((decision) => decision?.remaining).toSorted((a = 0, b = 0) => a - b),
      Array.from({ length: 60 }, (_, n) => n),
    )
    assert.ok(decisions.every((decision) => decision?.allowed || decision?.retryAfterSeconds === 60))
    assert.ok((await decide[0]?.('2001:db8:0:1::/64', monotonicMs()))?.allowed)
  })

  test('slides: no window by the clock of the store accepts more, and nothing is left behind', async () => {
    await using server = await startServer(await freePort())
    await using store = await node(server)
    await using opened = await openProbe(server)
    const { probe } = opened
    const decide = store.share(ownAllowance(BRIEF))
    const moments: number[] = []
    await until(async () => {
      const { allowed, remaining, retryAfterSeconds } = await decide('a', monotonicMs())
      assert.equal(retryAfterSeconds, allowed ? 0 : 1)
      if (allowed) moments.push(Number(await probe.lIndex('daybook:allowance:brief:a', -1)))
      assert.ok(remaining >= 0 && remaining < BRIEF.requests)
      return moments.length > BRIEF.requests
    }, 'one accepted request more than a window holds')
    for (const [index, first] of moments.entries()) {
      const beyond = moments[index + BRIEF.requests]
      assert.ok(beyond === undefined || beyond - first >= BRIEF.windowMs)
    }
    await until(async () => (await probe.dbSize()) === 0, 'an empty store')
  })

  test('counts a moment in the future as now after the clock of the store has gone back', async () => {
    await using server = await startServer(await freePort())
    await using store = await node(server)
    await using opened = await openProbe(server)
    const { probe } = opened
    const key = 'daybook:allowance:default:a'
    const hourMs = 3_600_000
    await probe.rPush(key, [Date.now() - 1000, Date.now() + hourMs, Date.now() + hourMs + 5].map(String))
    const decision = await store.share(ownAllowance(DEFAULT))('a', monotonicMs())
    assert.deepEqual([decision.allowed, decision.remaining], [true, 56])
    const kept = (await probe.lRange(key, 0, -1)).map(Number)
    assert.equal(kept.length, 4)
    assert.ok(kept.every((moment) => moment <= Date.now()))
    assert.ok((await probe.pTTL(key)) <= 60_000)
  })

  test('tells a node with a lower limit when its next request is free', async () => {
    await using server = await startServer(await freePort())
    await using store = await node(server)
    await using opened = await openProbe(server)
    const nowMs = Date.now()
    const agesMs = [30_000, 30_000, 30_000, 10_000, 5_000]
    const moments = agesMs.map((ageMs) => String(nowMs - ageMs))
    await opened.probe.rPush('daybook:allowance:default:a', moments)
    const lower = { ...DEFAULT, requests: 2 }
    const { allowed, remaining, resetSeconds, retryAfterSeconds } = await store.share(ownAllowance(lower))(
      'a',
      monotonicMs(),
    )
    assert.deepEqual([allowed, remaining, resetSeconds], [false, 0, retryAfterSeconds])
    // The fourth request must leave the window too. A slow machine makes the rest shorter, by less than 20 seconds.
    assert.ok(retryAfterSeconds > 30 && retryAfterSeconds <= 50, `Retry-After: ${retryAfterSeconds}`)
    // A node with a higher limit still waits for the oldest one.
    const higher = await store.share(ownAllowance(DEFAULT))('a', monotonicMs())
    assert.deepEqual([higher.allowed, higher.remaining], [true, 54])
    assert.ok(higher.resetSeconds <= 30)
  })

  test('becomes the node’s own while the store is lost, and shared again when it is back', async () => {
    const port = await freePort()
    const signals: StoreSignal[] = []
    const seen = (is: StoreSignal['is']): number => signals.filter((signal) => signal.is === is).length
    const server = await startServer(port)
    await using store = await node(server, signals)
    const decide = store.share(ownAllowance(DEFAULT))
    for (let n = 0; n < 20; n += 1) assert.equal((await decide('a', monotonicMs())).remaining, 59 - n)
    assert.deepEqual(signals, [])

    await server[Symbol.asyncDispose]()
    // Requests that this node accepted before count: 40 are left, not 60.
    let accepted = 0
    for (let n = 0; n < 100; n += 1) accepted += Number((await decide('a', monotonicMs())).allowed)
    assert.deepEqual([accepted, seen('lost'), seen('own-decision')], [40, 1, 100])

    await using again = await startServer(port)
    await until(async () => {
      await decide('b', monotonicMs())
      return seen('regained') === 1
    }, 'the store regained')
    // The new store does not know the 60 requests, but this node does until they have left the window.
    assert.equal((await decide('a', monotonicMs())).allowed, false)
    assert.equal(again.port, port)
  })

  test('delays nobody long when the store hangs', async () => {
    const signals: StoreSignal[] = []
    await using server = await startServer(await freePort())
    await using store = await node(server, signals, 100)
    const decide = store.share(ownAllowance(BRIEF))
    await decide('a', 0)
    assert.ok(server.child.kill('SIGSTOP'))
    const startMs = monotonicMs()
    const waiting = Array.from({ length: 50 }, async (_, n) => decide(`stranger ${n}`, 0))
    assert.ok((await Promise.all(waiting)).every(({ allowed }) => allowed))
    // Requests that came together waited together; later ones do not ask the store.
    signals.splice(0, 50)
    for (const allowed of [true, true, false]) assert.equal((await decide('a', 0)).allowed, allowed)
    assert.ok(monotonicMs() - startMs < BOUND_MS)
    assert.deepEqual(
      signals.map(({ is }) => is),
      ['own-decision', 'own-decision', 'own-decision', 'own-decision'],
    )
    assert.ok(server.child.kill('SIGCONT'))
    let nowMs = 0
    await until(async () => {
      nowMs += BRIEF.windowMs
      await decide('a', nowMs)
      return signals.at(-1)?.is === 'regained'
    }, 'the store regained')
  })

  test('is the node’s own from the start if there is no store, and the start does not hang', async () => {
    const signals: StoreSignal[] = []
    await using store = await node({ url: `redis://127.0.0.1:${await freePort()}` }, signals)
    const decide = store.share(ownAllowance(BRIEF))
    for (const allowed of [true, true, true, false]) assert.equal((await decide('a', 5000)).allowed, allowed)
    assert.deepEqual(
      signals.map(({ is }) => is),
      ['lost', 'own-decision', 'own-decision', 'own-decision', 'own-decision'],
    )
  })

  test('rejects an invalid address', async () => {
    await assert.rejects(node({ url: 'http://127.0.0.1' }))
  })
})
