import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../../../test/stage/api-stage.ts'
import { getRequest, sendRaw } from '../../../test/stage/raw-request.ts'
import { DAY_MS } from '../../protocol/moment.ts'
import { allocateAllowance, openAllowance } from './allowance.ts'
import type { Counter } from './counters.ts'
import type { RequestPathParts } from '../request/request-path.ts'

suite('the allowance', () => {
  const policy = { name: 'default', requests: 60, windowMs: 60_000 }
  let nowMs = 1_000_000
  function counters(): RequestPathParts['counters'] {
    const allowance = openAllowance(allocateAllowance(policy, 'a secret of this test', 100))
    const counter = {
      policy,
      decide: (caller: string, units?: number) => allowance.decide(caller, nowMs, units),
    }
    return { api: counter, tiles: counter, pages: pagesCounter() }
  }
  function pagesCounter(): Counter {
    const wide = { name: 'pages', requests: 100, windowMs: 60_000 }
    const allowance = openAllowance(allocateAllowance(wide, 'a secret of this test', 100))
    return { policy: wide, decide: (caller, units) => allowance.decide(caller, nowMs, units) }
  }
  const callerOf: RequestPathParts['callerOf'] = ({ headers }) => String(headers['x-forwarded-for'] ?? 'none')

  test('refuses the sixty-first request, and says when the next one is allowed', async () => {
    await using stage = await openApiStage({ counters: counters(), callerOf })
    const mine = { 'X-Forwarded-For': '192.0.2.1' }
    const mixed = ['/api/v1/summary', '/api/v1/nothing', '/api/v1/events?x=1', '/api/v1/events/1']
    for (let index = 0; index < 60; index += 1) {
      const response = await stage.get(mixed[index % mixed.length] ?? '', mine)
      assert.notEqual(response.status, 429)
      const immutable = (response.headers.get('cache-control') ?? '').includes('immutable')
      assert.equal(response.headers.get('ratelimit-policy'), immutable ? null : '"default";q=60;w=60')
      if (!immutable)
        assert.match(
          response.headers.get('ratelimit') ?? '',
          new RegExp(`^"default";r=${59 - index};t=\\d+$`),
        )
      await response.arrayBuffer()
    }
    assert.equal((await stage.get('/api/v1/summary', mine, 'OPTIONS')).status, 204)
    const refused = await stage.get('/api/v1/summary', mine)
    assert.equal(refused.status, 429)
    assert.equal(((await refused.json()) as { code: string }).code, 'rate-limited')
    assert.equal(refused.headers.get('access-control-allow-origin'), '*')
    assert.equal(refused.headers.get('cache-control'), 'no-store')
    assert.equal((await stage.get('/api/v1/summary', { 'X-Forwarded-For': '192.0.2.2' })).status, 200)
    assert.equal((await stage.get('/', mine)).status, 200)
    nowMs += Number(refused.headers.get('retry-after')) * 1000
    assert.equal((await stage.get('/api/v1/summary', mine)).status, 200)
  })

  test('of pages is separate and larger, and a page says when it is used up', async () => {
    await using stage = await openApiStage({ counters: counters(), callerOf })
    const mine = { 'X-Forwarded-For': '192.0.2.7' }
    const mixed = ['/status', '/nothing', '/flows.svg', '/events/1', '/feed.atom', '/contests/1.svg']
    for (let index = 0; index < 100; index += 1) {
      const response = await stage.get(mixed[index % mixed.length] ?? '', mine, 'HEAD')
      assert.notEqual(response.status, 429)
      await response.arrayBuffer()
    }
    const refused = await stage.get('/status', mine)
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('ratelimit-policy'), '"pages";q=100;w=60')
    assert.equal(refused.headers.get('cache-control'), 'no-store')
    const wait = refused.headers.get('retry-after') ?? ''
    const page = await refused.text()
    assert.match(page, /100 requests are allowed in any 60 seconds/)
    assert.ok(page.includes(`<meta http-equiv="refresh" content="${wait}" />`))
    assert.ok(page.includes(`Pages are available again in <b>${wait} s</b>, at <time `))
    assert.doesNotMatch(page, /JSON of this error/)
    assert.equal((await stage.get('/assets/nothing.js', mine)).status, 404)
    // Exports count against the API allowance.
    for (const path of ['/flows.csv', '/flows.metadata.json', '/schedule.ics']) {
      const data = await stage.get(path, mine)
      assert.equal(data.headers.get('ratelimit-policy'), '"default";q=60;w=60')
    }
    assert.equal((await stage.get('/api/v1/summary', mine)).status, 200)
    assert.equal((await stage.get('/status', { 'X-Forwarded-For': '192.0.2.8' })).status, 200)
    nowMs += Number(wait) * 1000
    assert.equal((await stage.get('/status', mine)).status, 200)
  })

  test('of pages counts a link preview that is drawn as ten requests, and a cached one as one', async () => {
    await using stage = await openApiStage({ counters: counters(), callerOf })
    const left = async (path: string, caller: string): Promise<number> => {
      const response = await stage.get(path, { 'X-Forwarded-For': caller })
      return Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])
    }
    assert.equal(await left('/events/10.png', '192.0.2.20'), 90)
    assert.equal(await left('/events/10.png', '192.0.2.20'), 89)
    assert.equal(await left('/events/9.png', '192.0.2.20'), 79)
    assert.equal(await left('/events/10.png', '192.0.2.21'), 99)
  })

  test('of pages counts one more for each 1,000 rows or buckets that a page reads, cached or not', async () => {
    await using stage = await openApiStage({ counters: counters(), callerOf })
    const left = async (path: string, headers = {}): Promise<number> => {
      const response = await stage.get(path, { 'X-Forwarded-For': '192.0.2.9', ...headers })
      await response.arrayBuffer()
      assert.ok(response.status === 200 || response.status === 304, `${response.status}`)
      return Number(/;r=(\d+);/.exec(response.headers.get('ratelimit') ?? '')?.[1])
    }
    const minutes = '/flows?bucket=minute&from=2026-10-01&to=2026-10-02'
    assert.equal(await left('/flows'), 99)
    assert.equal(await left(minutes), 97)
    assert.equal(await left(minutes), 95)
    assert.equal(await left(minutes.replace('/flows', '/flows.svg')), 93)
    assert.equal(await left('/status'), 92)
    // The API counts requests only.
    assert.equal(await left(`/api/v1${minutes}`), 59)
  })

  test('that is nearly used up is used up by a long page, which is still answered', async () => {
    await using stage = await openApiStage({ counters: counters(), callerOf })
    const mine = { 'X-Forwarded-For': '192.0.2.10' }
    const minutes = '/flows?bucket=minute&from=2026-10-01&to=2026-10-02'
    for (let index = 0; index < 99; index += 1) await (await stage.get('/icon.svg', mine)).arrayBuffer()
    const last = await stage.get(minutes, mine)
    assert.equal(last.status, 200)
    assert.match(last.headers.get('ratelimit') ?? '', /;r=0;/)
    assert.equal((await stage.get('/status', mine)).status, 429)
  })

  test('also counts malformed requests', async () => {
    await using stage = await openApiStage({ counters: counters(), callerOf })
    await sendRaw(stage.port, getRequest('/api/v1/summary', ['Content-Length: 1']) + 'x')
    await sendRaw(stage.port, getRequest('/api/v1/summary', [], 'DELETE'))
    const response = await stage.get('/api/v1/summary')
    assert.match(response.headers.get('ratelimit') ?? '', /^"default";r=57;/)
  })

  test('is not announced with an immutable file, but with the file of the open month', async () => {
    await using stage = await openApiStage({ counters: counters(), callerOf, apartMs: 4 * DAY_MS })
    for (const [name, told] of [
      ['2026-10.jsonl.gz', null],
      ['2026-10.json', null],
      ['2026-11.jsonl.gz', '"default";q=60;w=60'],
      ['SHA256SUMS', '"default";q=60;w=60'],
    ] as const) {
      const file = await stage.get(`/api/v1/archive/${name}`)
      assert.equal(file.status, 200, name)
      assert.equal(file.headers.get('ratelimit-policy'), told, name)
      assert.equal(file.headers.has('ratelimit'), told !== null, name)
      assert.equal(file.headers.get('cache-control')?.includes('immutable'), told === null, name)
      const headers = { 'If-None-Match': file.headers.get('etag') ?? '' }
      const same = await stage.get(`/api/v1/archive/${name}`, headers)
      assert.equal(same.status, 304, name)
      assert.equal(same.headers.has('ratelimit'), told !== null, name)
    }
  })
})
