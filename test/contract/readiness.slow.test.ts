import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { READY_MS_MAX } from '../../src/publish/api/operations.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { type NodeProcess, startNode } from '../stage/node-process.ts'
import { openClient } from '../stage/stream-client.ts'
import { isRunning } from '../processes/other-program.ts'

/** Time limit within which a change of state is reported. */
const REPORT_MS_MAX = 1_000
/** Extra time for a slow machine. */
const SLACK_MS = 1_500
const LOOK_MS = 100
const FAULTS = join(import.meta.dirname, '..', 'crash', 'faults.ts')

type Readyz = Readonly<{ ready: boolean; checks: Readonly<Record<string, boolean>>; unanswered?: string[] }>
type Asked = Readonly<{ status: number; text: string }>

async function ask(url: string): Promise<Asked> {
  const response = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(60_000) })
  return { status: response.status, text: await response.text() }
}

function readyz({ text }: Asked): Readyz {
  return JSON.parse(text) as Readyz
}

/** Asks until the answer is as wanted; resolves with the time that it took. */
async function askUntil(url: string, isWanted: (asked: Asked) => boolean): Promise<number> {
  const began = performance.now()
  for (;;) {
    const asked = await ask(url)
    const ms = performance.now() - began
    if (isWanted(asked)) return ms
    assert.ok(ms < 60_000, `${url} still says ${asked.status} ${asked.text}`)
    await sleep(LOOK_MS)
  }
}

/** Waits until a service has written `words`: the pipe of its lines may be slower than its answer. */
async function said(stderr: () => string, words: string): Promise<void> {
  for (let looks = 0; !stderr().includes(words); looks += 1) {
    assert.ok(looks < 100, `no line says: ${words}`)
    await sleep(LOOK_MS)
  }
}

/** A service in a temporary folder. `fail` makes one of its threads fail. */
type FailingNode = AsyncDisposable & Readonly<{ node: NodeProcess; fail(fault: string): void }>

async function openFailingNode(options: readonly string[]): Promise<FailingNode> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-ready-'))
  const faults = join(folder, 'faults')
  mkdirSync(faults)
  const wrapper = ['env', `NODE_OPTIONS=--import=${FAULTS}`, `FAULTS_OF_TEST=${faults}`]
  const node = await startNode(join(folder, 'data'), options, wrapper)
  return {
    node,
    fail: (fault) => writeFileSync(join(faults, fault), ''),
    async [Symbol.asyncDispose]() {
      if (isRunning(node.child)) await node.end('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Asserts that a service tells its streams where to go on, and ends, after an unhandled failure in a thread. */
async function assertEndsAfter({ node, fail }: FailingNode, thread: string): Promise<void> {
  using stream = await openClient(Number(new URL(node.url).port))
  await stream.until(() => stream.positions().length === 1)
  fail(`reject-${thread}`)
  assert.equal(await ended(node), 1)
  assert.match(node.stderr(), new RegExp(`a rejection in ${thread}`))
  assert.equal(stream.positions().length, 2, 'the stream was told where to go on')
  assert.ok(stream.isWhole())
}

/** Sends one request over a connection that is kept for the next one. */
async function askOn(agent: Agent, url: string): Promise<Asked & Readonly<{ closes: boolean }>> {
  const [response] = await once(request(url, { agent }).end(), 'response')
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return { status: response.statusCode, text, closes: response.headers['connection'] === 'close' }
}

/** Waits for a service to end by itself, and resolves with its exit code. */
async function ended(node: NodeProcess): Promise<number | null> {
  if (node.child.exitCode === null) await once(node.child, 'close')
  return node.child.exitCode
}

/** With a trusted proxy, idle connections outlive this test. */
const KEEPING = ['--trust-proxy', '192.0.2.1']
const OPTIONS: readonly (readonly string[])[] = process.platform === 'linux' ? [[], ['--workers', '2']] : [[]]

for (const options of OPTIONS) {
  suite(`a service ${options.join(' ')}`, () => {
    // One service for the tests up to its end.
    let opened: FailingNode
    before(async () => {
      opened = await openFailingNode([...options, '--drain', '2'])
    })
    after(() => opened[Symbol.asyncDispose]())

    test('is ready for readers and publishers, and refuses other parameters', async () => {
      const { publishUrl, publish } = opened.node
      const sound = { store: true, serving: true, accepting_publishes: true, store_in_place: true }
      await publish([{ ref: 'a', type: 'trade', kind: 'buy', kots: '1' }])
      const readers = await ask(`${publishUrl}/readyz`)
      assert.deepEqual([readers.status, readyz(readers)], [200, { ready: true, checks: sound }])
      const publishers = await ask(`${publishUrl}/readyz?for=publish`)
      assert.deepEqual(
        [publishers.status, readyz(publishers)],
        [200, { ready: true, checks: { accepting_publishes: true, store_in_place: true } }],
      )
      assert.equal((await ask(`${publishUrl}/readyz?for=readers`)).status, 400)
      assert.match((await ask(`${publishUrl}/metrics`)).text, /^daybook_ready\{check="serving"\} 1$/m)
    })

    test('with a failing metric answers /metrics with 500, reports the reason, and goes on', async () => {
      const {
        node: { publishUrl, stderr, publish },
        fail,
      } = opened
      const threads = options.length === 0 ? ['main'] : ['main', 'front']
      for (const thread of threads) {
        fail(`collector-${thread}`)
        const scraped = await ask(`${publishUrl}/metrics`)
        assert.equal(scraped.status, 500, scraped.text)
        assert.match(scraped.text, thread === 'main' ? /main thread/ : /serving thread 2/)
        await said(stderr, `a collector fails in ${thread}`)
      }
      assert.equal((await ask(`${publishUrl}/metrics`)).status, 200)
      assert.equal((await publish([{ ref: 'b', type: 'trade', kind: 'buy', kots: '1' }])).status, 200)
    })

    test('names a thread that does not answer within the time limit', async () => {
      const {
        node: { publishUrl },
        fail,
      } = opened
      const [fault, name] =
        options.length === 0 ? ['block-main', 'main thread'] : ['block-front', 'serving thread 2']
      fail(fault)
      const toldMs = await askUntil(`${publishUrl}/readyz`, ({ status }) => status === 503)
      assert.ok(toldMs < 2 * READY_MS_MAX + SLACK_MS, `told after ${toldMs} ms`)
      const { ready, checks, unanswered } = readyz(await ask(`${publishUrl}/readyz`))
      assert.deepEqual([ready, checks['serving'], unanswered], [false, false, [name]])
      assert.equal((await ask(`${publishUrl}/readyz?for=publish`)).status, 200)
      const scraped = await ask(`${publishUrl}/metrics`)
      assert.equal(scraped.status, 503)
      assert.match(scraped.text, new RegExp(`${name} did not answer within \\d+ ms`))
      await askUntil(`${publishUrl}/readyz`, ({ status }) => status === 200)
    })

    const [first = '', ...others] = options.length === 0 ? ['main', 'writer'] : ['front']
    test(`reports an unhandled failure in its ${first} thread, drains and ends`, () =>
      assertEndsAfter(opened, first))
    for (const thread of others) {
      test(`reports an unhandled failure in its ${thread} thread, drains and ends`, async () => {
        await using failing = await openFailingNode([...options, '--drain', '2'])
        await assertEndsAfter(failing, thread)
      })
    }

    test('reports a stop within a second, on open connections and on the private port', async () => {
      await using failing = await openFailingNode([...options, '--drain', '8', ...KEEPING])
      const { node } = failing
      const { url, publishUrl } = node
      await node.publish([{ ref: 'a', type: 'trade', kind: 'buy', kots: '1' }])
      const paths = ['/', '/api/v1/summary', '/api/v1/events', '/api/v1/stream']
      const agents = paths.map(() => new Agent({ keepAlive: true, maxSockets: 1 }))
      for (const [index, agent] of agents.entries())
        assert.equal((await askOn(agent, `${url}${paths[index === 3 ? 1 : index]}`)).status, 200)
      const port = Number(new URL(url).port)
      const streams = await Promise.all(Array.from({ length: 6 }, () => openClient(port)))
      for (const stream of streams) await stream.until(() => stream.positions().length > 0)
      const stopped = node.end('SIGTERM')
      const toldMs = await askUntil(`${publishUrl}/readyz`, ({ status }) => status === 503)
      assert.ok(toldMs < REPORT_MS_MAX + SLACK_MS, `told after ${toldMs} ms`)
      const { ready, checks } = readyz(await ask(`${publishUrl}/readyz`))
      assert.deepEqual(
        [ready, checks],
        [false, { store: true, serving: false, accepting_publishes: false, store_in_place: true }],
      )
      assert.equal((await ask(`${publishUrl}/readyz?for=publish`)).status, 503)
      const refused = await node.publish([{ ref: 'b', type: 'trade', kind: 'buy', kots: '1' }])
      assert.deepEqual([refused.status, refused.code], [503, 'not-ready'])
      assert.equal(refused.headers.get('connection'), 'close')
      assert.equal((await ask(`${publishUrl}/livez`)).status, 200)
      const metrics = await ask(`${publishUrl}/metrics`)
      assert.equal(metrics.status, 200, metrics.text)
      assert.match(metrics.text, /^daybook_ready\{check="serving"\} 0$/m)
      for (const [index, agent] of agents.entries()) {
        const told = await askOn(agent, `${url}${paths[index]}`)
        assert.deepEqual([told.status, told.closes], [503, true])
        if (index > 0) assert.match(told.text, /"code":"not-ready"/)
        agent.destroy()
      }
      await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), 'no new connection is taken')
      assert.deepEqual(await stopped, { code: 0, signal: null }, node.stderr())
      for (const stream of streams) stream.socket.destroy()
    })
  })
}

suite('a service with few open files', () => {
  const limits = ['--nofile=200:200']
  test(
    'keeps some for its private port, and says that it has too few',
    { skip: skipWithout('prlimit') },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'daybook-files-'))
      const node = await startNode(join(folder, 'data'), [], ['prlimit', ...limits])
      try {
        assert.match(node.stderr(), /this process may open 200 files/)
        const port = Number(new URL(node.url).port)
        const sockets = Array.from({ length: 400 }, () =>
          connect(port, '127.0.0.1').on('error', () => undefined),
        )
        await Promise.all(
          sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])),
        )
        for (let times = 0; times < 20; times += 1) {
          assert.equal((await ask(`${node.publishUrl}/readyz`)).status, 200)
          const draft = { ref: `r${times}`, type: 'trade', kind: 'buy', kots: '1' }
          assert.equal((await node.publish([draft])).status, 200)
        }
        assert.match((await ask(`${node.publishUrl}/metrics`)).text, /^daybook_http_connections 100$/m)
        assert.match(node.stderr(), /the limit of connections is reached/)
        for (const socket of sockets) socket.destroy()
        assert.equal((await node.end('SIGTERM')).code, 0)
      } finally {
        if (isRunning(node.child)) await node.end('SIGKILL')
        rmSync(folder, { recursive: true, force: true })
      }
    },
  )
})
