import { openRequestIds } from '../http/problem-document.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { Registry } from 'prom-client'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { allocateAllowance, openAllowance } from '../allowance/allowance.ts'
import { msOf } from '../../protocol/moment.ts'
import { problemReply, type Reply, type Route } from '../http/route.ts'
import { openRouter } from '../http/router.ts'
import { openMetrics } from '../metrics/metrics.ts'
import { openAnswerCache } from './answer-cache.ts'
import { ANSWER_MS_MAX } from './answer-deadlines.ts'
import { openRequestPath } from './request-path.ts'

const PAGE = '/api/v1/events?after=0&limit=50'

/** Parts of an answer that a caller can see. */
async function seen(response: Response): Promise<unknown> {
  const { status, headers } = response
  const lasting = [...headers].filter(([name]) => name !== 'date')
  return { status, headers: lasting, body: await response.text() }
}

suite('an immutable answer in the cache', () => {
  let stage: ApiStage
  before(async () => {
    stage = await openApiStage()
    stage.trade(100)
  })
  after(() => stage[Symbol.asyncDispose]())

  for (const path of ['/api/v1/events/1', '/api/v1/events/1/details', PAGE, `${PAGE}&format=csv`]) {
    test(`is the same as the first answer: ${path}`, async () => {
      for (const coding of ['identity', 'gzip', 'br', 'zstd', 'gzip;q=0']) {
        const headers = { 'Accept-Encoding': coding }
        const first = await stage.get(path, headers)
        const etag = first.headers.get('etag') ?? ''
        const told = await seen(first)
        for (let again = 0; again < 3; again += 1) {
          assert.deepEqual(await seen(await stage.get(path, headers)), told)
        }
        const held = await stage.get(path, { ...headers, 'If-None-Match': etag })
        assert.equal(held.status, 304)
        assert.equal(held.headers.get('etag'), etag)
        assert.equal(held.headers.get('cache-control'), 'public, max-age=31536000, immutable')
        assert.equal(held.headers.get('content-type'), null)
        const head = await stage.get(path, headers, 'HEAD')
        assert.equal(head.headers.get('etag'), etag)
        assert.equal(await head.text(), '')
      }
    })
  }

  test('is found for the same query with empty pairs in it', async () => {
    const first = await stage.get(`${PAGE}&type=trade`)
    const etag = first.headers.get('etag') ?? ''
    const [path, query = ''] = `${PAGE}&type=trade`.split('?')
    for (const target of [
      `${path}?&${query}`,
      `${path}?${query}&`,
      `${path}?${query.replaceAll('&', '&&')}`,
    ]) {
      assert.deepEqual(await seen(await stage.get(target)), await seen(await stage.get(`${PAGE}&type=trade`)))
      assert.equal((await stage.get(target, { 'If-None-Match': etag })).status, 304)
    }
  })

  test('is refused when the caller has used up the allowance', async () => {
    const policy = { name: 'default', requests: 3, windowMs: 60_000 }
    const allowance = openAllowance(allocateAllowance(policy, 'a secret of this test', 100))
    const counter = { policy, decide: (caller: string) => allowance.decide(caller, 1_000) }
    await using limited = await openApiStage({ counters: { api: counter, tiles: counter, pages: counter } })
    const codes: number[] = []
    for (let index = 0; index < 5; index += 1) codes.push((await limited.get('/api/v1/events/1')).status)
    assert.deepEqual(codes, [200, 200, 200, 429, 429])
  })

  test('fails like any other answer when the allowance fails', async () => {
    let broken = false
    const policy = { name: 'default', requests: 3, windowMs: 60_000 }
    const decide = () => {
      if (broken) throw new Error('the allowance fails')
      return { allowed: true, remaining: 1, resetSeconds: 1, retryAfterSeconds: 0 }
    }
    const counter = { policy, decide }
    await using failing = await openApiStage({ counters: { api: counter, tiles: counter, pages: counter } })
    assert.equal((await failing.get('/api/v1/events/1')).status, 200)
    broken = true
    assert.equal((await failing.get('/api/v1/events/1')).status, 500)
    assert.equal(failing.reported.length, 1)
  })

  test('is refused like any other answer while the node is not ready', async () => {
    await stage.get('/api/v1/events/2')
    stage.setUnready({ code: 'not-ready', detail: 'Not yet.' })
    assert.equal((await stage.get('/api/v1/events/2')).status, 503)
    stage.setUnready(undefined)
    assert.equal((await stage.get('/api/v1/events/2')).status, 200)
  })
})

suite('an answer in the cache that is not immutable', () => {
  for (const path of [
    '/api/v1/summary',
    '/api/v1/flows?bucket=hour',
    '/api/v1/events?after=3',
    '/api/v1/events?format=csv&limit=1000',
    '/contests',
  ]) {
    test(`is read from the log once until the head moves: ${path}`, async () => {
      let reads = 0
      await using stage = await openApiStage({
        reader: (reader) => ({
          ...reader,
          snapshot(ask) {
            reads += 1
            return reader.snapshot(ask)
          },
        }),
      })
      stage.trade(50)
      const first = await (await stage.get(path)).text()
      const [readOnce, again] = [reads, await stage.get(path)]
      assert.equal(await again.text(), first)
      const held = await stage.get(path, { 'If-None-Match': again.headers.get('etag') ?? '' })
      assert.equal(held.status, 304)
      assert.equal(reads, readOnce)
      stage.trade(1)
      await (await stage.get(path)).text()
      assert.ok(reads > readOnce)
    })
  }

  test('is counted with the allowance of its route, and a page with its rows', async () => {
    const policy = { name: 'pages', requests: 100, windowMs: 60_000 }
    const allowance = openAllowance(allocateAllowance(policy, 'a secret of this test', 100))
    const counter = {
      policy,
      decide: (caller: string, units?: number) => allowance.decide(caller, 1_000, units),
    }
    const api = openAllowance(allocateAllowance({ ...policy, name: 'default' }, 'another secret', 100))
    const ofApi = { policy: api.policy, decide: (caller: string) => api.decide(caller, 1_000) }
    await using stage = await openApiStage({ counters: { api: ofApi, tiles: ofApi, pages: counter } })
    stage.trade(1_000)
    const remaining = async (path: string): Promise<number> => {
      const { headers } = await stage.get(path)
      return Number(/;r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
    }
    assert.deepEqual([await remaining('/contests'), await remaining('/contests')], [99, 98])
    const page = '/events?limit=1000'
    assert.deepEqual([await remaining(page), await remaining(page)], [96, 94])
    assert.deepEqual([await remaining('/api/v1/summary'), await remaining('/api/v1/summary')], [99, 98])
  })
})

/** More than the kernel buffers for a caller that does not read. */
const LARGE_BYTES = 32 * 1024 * 1024

/** Far longer than the time between two looks at the answers. */
const CLOSE_MS_MAX = 20_000

const BODIES: readonly (readonly [name: string, reply: Reply])[] = [
  ['a problem', problemReply({ code: 'not-found', detail: 'x'.repeat(LARGE_BYTES) })],
  [
    'a body',
    { is: 'body', keep: 'no-store', etag: null, type: 'text/plain', body: Buffer.alloc(LARGE_BYTES, 'x') },
  ],
]

suite('a short answer of a streaming route', () => {
  for (const [name, reply] of BODIES) {
    test(`is dropped at the time limit when nobody reads it: ${name}`, async (t) => {
      let nowMs = 0
      const cuts: string[] = []
      const route: Route = {
        path: '/stream',
        parameters: [],
        allowance: 'none',
        streaming: true,
        handle: () => reply,
      }
      const server = createServer()
      const path = openRequestPath(server, null, {
        identity: { id: 'id', origin: 'daybook.test', chain: 'opaque', simulated: false, former: [] },
        mirrorOf: null,
        licence: null,
        requestIds: openRequestIds('t'),
        router: openRouter([route]),
        cache: openAnswerCache(() => ''),
        answer: () => Promise.reject(new Error('the route answers itself')),
        callerOf: () => 'one',
        counters: null,
        unready: () => undefined,
        following: null,
        now: () => msOf(0),
        monotonicMs: () => nowMs,
        problemBase: '/problems',
        metrics: openMetrics(new Registry()),
        report: { all: false, answered: () => undefined, cut: (fault) => cuts.push(fault) },
      })
      server.on('request', path.enter).listen(0, '127.0.0.1')
      t.after(() => {
        server.closeAllConnections()
        server.close()
      })
      await once(server, 'listening')
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
      t.after(() => socket.destroy())
      const begun = once(server, 'request')
      socket.write('GET /stream HTTP/1.1\r\nHost: daybook.test\r\n\r\n')
      const response: ServerResponse = (await begun)[1]
      const closed = once(response, 'close', { signal: AbortSignal.timeout(CLOSE_MS_MAX) })
      nowMs = ANSWER_MS_MAX
      await closed
      assert.deepEqual(cuts, ['late'])
    })
  }
})
