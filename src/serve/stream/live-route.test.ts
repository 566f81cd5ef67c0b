import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../../../test/stage/api-stage.ts'
import { openClient } from '../../../test/stage/stream-client.ts'
import { openStage } from '../../../test/stage/stream-stage.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import type { Counter } from '../allowance/allowance.ts'

const LIVE = '/live'

/** A counter that allows `requests` and notes each request. */
function counterOf(name: string, requests: number, noted: string[]): Counter {
  return {
    policy: { name, requests, windowMs: 60_000 },
    decide() {
      noted.push(name)
      const remaining = Math.max(0, requests - noted.filter((one) => one === name).length)
      const allowed = noted.filter((one) => one === name).length <= requests
      return { allowed, remaining, resetSeconds: 9, retryAfterSeconds: allowed ? 0 : 9 }
    },
  }
}

suite('the stream of pages', () => {
  test('has the bytes of the stream from the head', async () => {
    await using stage = await openStage()
    stage.publish(5)
    using page = await openClient(stage.port, { of: LIVE })
    using api = await openClient(stage.port)
    await page.until(() => page.positions().length === 1 && api.positions().length === 1)
    stage.publish(3)
    await page.until(() => page.seqs().length === 3 && api.seqs().length === 3)
    assert.deepEqual(page.events(), api.events())
    assert.deepEqual(page.positions()[0], api.positions()[0])
    for (const header of [
      /^content-type: text\/event-stream; charset=utf-8/im,
      /^cache-control: no-store, no-transform/im,
      /^x-accel-buffering: no/im,
      /^connection: close/im,
      /^daybook-log: /im,
    ]) {
      assert.match(page.head(), header)
    }
  })

  test('goes on after Last-Event-ID', async () => {
    await using stage = await openStage()
    stage.publish(5)
    using client = await openClient(stage.port, { of: LIVE, headers: ['Last-Event-ID: 3'] })
    await client.until(() => client.seqs().length === 2)
    assert.deepEqual(client.seqs(), [4, 5])
  })

  test('answers HEAD, and takes no parameters', async () => {
    await using stage = await openApiStage({ streams: true })
    const head = await stage.get(LIVE, {}, 'HEAD')
    assert.equal(head.status, 200)
    assert.equal(await head.text(), '')
    for (const query of ['after=0', 'from=2026-10-01', 'type=play', 'details=1']) {
      const refused = await stage.get(`${LIVE}?${query}`)
      assert.equal(refused.status, 400, query)
      assert.equal(refused.headers.get('content-type'), 'application/problem+json')
    }
  })

  test('cannot be read by other sites', async () => {
    await using stage = await openApiStage({ streams: true })
    const allowed = (answer: Response): string | null => answer.headers.get('access-control-allow-origin')
    for (const method of ['HEAD', 'OPTIONS', 'POST']) {
      const answer = await stage.get(LIVE, { Origin: 'https://other.example' }, method)
      assert.equal(allowed(answer), null, method)
      assert.equal(answer.headers.get('cross-origin-resource-policy'), 'same-origin', method)
    }
    assert.equal(allowed(await stage.get('/api/v1/stream', {}, 'HEAD')), '*')
  })

  test('costs a page, and nothing of the API', async () => {
    const noted: string[] = []
    const [api, tiles, pages] = ['default', 'tiles', 'pages'].map((name) => counterOf(name, 2, noted))
    assert.ok(api !== undefined && tiles !== undefined && pages !== undefined)
    await using stage = await openApiStage({ streams: true, counters: { api, tiles, pages } })
    const first = await stage.get(LIVE, {}, 'HEAD')
    assert.equal(first.headers.get('ratelimit'), '"pages";r=1;t=9')
    await stage.get(LIVE, {}, 'HEAD')
    assert.deepEqual(noted, ['pages', 'pages'])
    const refused = await stage.get(LIVE)
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('retry-after'), '9')
    assert.equal(JSON.parse(await refused.text()).code, 'rate-limited')
    assert.match(await stage.metrics.metrics(), /daybook_rate_limited_total\{scope="pages"\} 1/)
    assert.match(await stage.metrics.metrics(), /route="\/live"/)
  })

  test('shares the streams of an address and of the node with the API', async () => {
    for (const [limits, code] of [
      [{ slotsPerCaller: 1 }, 'too-many-streams'],
      [{ slotsPerNode: 1 }, 'stream-capacity'],
    ] as const) {
      for (const [first, second] of [
        [LIVE, '/api/v1/stream'],
        ['/api/v1/stream', LIVE],
      ]) {
        await using stage = await openStage(limits)
        using open = await openClient(stage.port, { of: first ?? '' })
        await open.until(() => open.positions().length === 1)
        using refused = await openClient(stage.port, { of: second ?? '' })
        await refused.until(() => refused.body().endsWith('}'))
        assert.equal(JSON.parse(refused.body()).code, code)
        assert.match(refused.head(), new RegExp(`^HTTP/1.1 ${PROBLEMS[code].status} `))
      }
    }
  })

  test('is refused while the node is not ready, and ends when it stops', async () => {
    await using api = await openApiStage({ streams: true })
    api.setUnready({ code: 'not-ready', detail: 'The log is being read.', retryAfterSeconds: 7 })
    const refused = await api.get(LIVE)
    assert.equal(refused.status, 503)
    assert.equal(refused.headers.get('retry-after'), '7')
    await refused.text()

    await using stage = await openStage()
    using client = await openClient(stage.port, { of: LIVE })
    await client.until(() => client.positions().length === 1)
    await stage.streams.drain()
    await client.until(() => client.isWhole())
    assert.equal(client.positions().length, 2, 'the last frame is a position')
  })
})
