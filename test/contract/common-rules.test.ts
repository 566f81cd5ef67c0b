import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { ENDPOINTS } from '../../src/protocol/endpoints/endpoints.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { HELD_PATHS } from '../../src/publish/api/held-api.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { PUBLISH_TOKEN } from '../stage/publish-stage.ts'

/** Paths of the private listener beside those of held drafts. */
const PRIVATE_PATHS = ['/publish', '/livez', '/readyz', '/metrics'] as const
const LICENCE = 'https://creativecommons.org/licenses/by/4.0/'

let stage: ApiStage
before(async () => {
  stage = await openApiStage({
    streams: true,
    site: { licence: LICENCE },
    routes: [
      {
        path: '/api/v1/fails',
        parameters: [],
        allowance: 'api',
        brief: true,
        handle() {
          throw new Error('on purpose')
        },
      },
    ],
  })
})
after(() => stage[Symbol.asyncDispose]())

async function problemAt(path: string): Promise<Readonly<{ code: string; detail: string; status: number }>> {
  const response = await stage.get(path)
  assert.equal(response.headers.get('content-type'), 'application/problem+json', path)
  assert.equal(response.headers.get('access-control-allow-origin'), '*', path)
  assert.equal(response.headers.get('cache-control'), 'no-store', path)
  return (await response.json()) as { code: string; detail: string; status: number }
}

suite('the licence of the data', () => {
  test('is linked by every answer of the API: JSON, CSV, 304, files, proofs, problems', async () => {
    for (const path of [
      '/api/v1',
      '/api/v1/summary',
      '/api/v1/events/1',
      '/api/v1/events?format=csv',
      '/api/v1/archive/2026-10.jsonl.gz',
      '/api/v1/log/checkpoint',
      '/api/v1/nothing',
    ]) {
      // The second answer is a ready one.
      for (const response of [await stage.get(path), await stage.get(path)]) {
        assert.equal(response.headers.get('link'), `<${LICENCE}>; rel="license"`, path)
        await response.arrayBuffer()
      }
    }
    const etag = (await stage.get('/api/v1/summary')).headers.get('etag') ?? ''
    const unchanged = await stage.get('/api/v1/summary', { 'If-None-Match': etag })
    assert.equal(unchanged.status, 304)
    assert.equal(unchanged.headers.get('link'), `<${LICENCE}>; rel="license"`)
  })

  test('is linked beside the next page', async () => {
    for (const path of ['/api/v1/contests?limit=1', '/api/v1/payouts?limit=1', '/api/v1/events?limit=2']) {
      const response = await stage.get(path)
      const { next, page } = (await response.json()) as { next?: string; page?: { next: string } }
      const nextPage = next ?? page?.next ?? assert.fail(path)
      assert.equal(
        response.headers.get('link'),
        `<${nextPage}>; rel="next", <${LICENCE}>; rel="license"`,
        path,
      )
    }
  })

  test('is the licence of the descriptions; the licence of the code is in none', async () => {
    for (const path of ['/api/v1/openapi.json', '/api/v1/asyncapi.json']) {
      const { info } = (await (await stage.get(path)).json()) as { info: { license: unknown } }
      assert.deepEqual(info.license, { name: 'Licence of the published data', url: LICENCE })
    }
  })

  test('is left out when the operator gives none', async () => {
    await using other = await openApiStage()
    const response = await other.get('/api/v1/openapi.json')
    assert.equal(response.headers.get('link'), null)
    const { info } = (await response.json()) as { info: object }
    assert.ok(!('license' in info))
  })
})

suite('the index of the API', () => {
  test('is at /api/v1, names every endpoint, and answers GET, HEAD and OPTIONS', async () => {
    const response = await stage.get('/api/v1')
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
    const index = (await response.json()) as {
      licence: string
      openapi: string
      endpoints: { path: string; parameters: string[] }[]
    }
    assert.equal(index.licence, LICENCE)
    assert.deepEqual(
      index.endpoints.map(({ path, parameters }) => [path, parameters]),
      ENDPOINTS.map(({ path, parameters }) => [path, parameters.map(({ name }) => name)]),
    )
    for (const path of [index.openapi, '/api', '/errors'])
      assert.equal((await stage.get(path)).status, 200, path)
    const head = await stage.get('/api/v1', {}, 'HEAD')
    assert.equal(head.headers.get('etag'), response.headers.get('etag'))
    assert.equal((await stage.get('/api/v1', {}, 'OPTIONS')).status, 204)
    assert.equal((await problemAt('/api/v1?x=1')).code, 'unknown-parameter')
  })
})

suite('a path under /api/', () => {
  for (const path of [
    '/api/',
    '/api/v1/',
    '/api/v2',
    '/api/v2/events',
    '/api/v10',
    '/api/x.html',
    '/api//v1',
  ])
    test(`is refused as the API refuses: ${path}`, async () =>
      assert.equal((await problemAt(path)).code, 'not-found'))

  test('is answered with CORS for every method and status', async () => {
    for (const [path, method] of [
      ['/api/v2/events', 'OPTIONS'],
      ['/api/v2/events', 'POST'],
      ['/api/problems/not-found', 'GET'],
    ] as const) {
      const response = await stage.get(path, {}, method)
      assert.equal(response.headers.get('access-control-allow-origin'), '*', path)
    }
  })
})

suite('every problem', () => {
  test('has the id of its request, on pages too, and scripts may read it', async () => {
    const seen = new Set<string>()
    for (const path of [
      '/api/v1/events?limit=0',
      '/api/v1/nothing',
      '/api/v2',
      '/nothing',
      '/events?limit=0',
    ]) {
      const response = await stage.get(path)
      assert.ok(response.status >= 400, path)
      const id = response.headers.get('daybook-request') ?? ''
      assert.match(id, /^t-[0-9a-z]+$/, path)
      assert.match(response.headers.get('access-control-expose-headers') ?? '', /\bDaybook-Request\b/)
      assert.equal(response.headers.get('cache-control'), 'no-store')
      seen.add(id)
      await response.arrayBuffer()
    }
    assert.equal(seen.size, 5)
    assert.equal((await stage.get('/api/v1/summary')).headers.get('daybook-request'), null)
  })

  test('of ours is reported with the id and the route, and with nothing that was sent', async () => {
    const failed = await stage.get('/api/v1/fails')
    assert.equal(failed.status, 500)
    stage.setUnready({ code: 'not-ready', detail: 'The log is being checked.' })
    const refused = await stage.get('/api/v1/events?limit=7')
    const explained = await stage.get('/api/problems/not-ready')
    stage.setUnready(undefined)
    assert.equal(explained.status, 200)
    assert.deepEqual(
      stage.failures.map(({ request, route, status }) => ({ request, route, status })),
      [
        { request: failed.headers.get('daybook-request'), route: '/api/v1/fails', status: 500 },
        { request: refused.headers.get('daybook-request'), route: '/api/v1/events', status: 503 },
      ],
    )
    stage.reported.length = 0
  })
})

suite('a name that is almost right is refused with what was meant:', () => {
  const table: readonly (readonly [path: string, detail: RegExp])[] = [
    ['/api/v1/events?contest_id=1', /Did you mean `contestId`\?/],
    ['/api/v1/events?type[]=payout', /Did you mean `type`\?/],
    ['/api/v1/events?Type=payout', /Did you mean `type`\?/],
    ['/api/v1/flows?bucket=days', /Did you mean day\?/],
    ['/api/v1/flows?bucket=Week', /Did you mean week\?/],
    ['/api/v1/events?type=payouts,burns,play', /Did you mean payout, burn\?/],
    ['/api/v1/contests?status=Running', /Did you mean running\?/],
    ['/api/v1/flows?from=2026-7', /did you mean 2026-07-01T00:00:00\.000Z\?/],
    ['/api/v1/event', /Did you mean \/api\/v1\/events\?/],
    ['/api/v1/events/', /Did you mean \/api\/v1\/events\? An address has no slash at its end\./],
    ['/api/v1/Events/5', /Did you mean \/api\/v1\/events\/\{seq\}\?/],
    ['/api/v1//events', /Did you mean \/api\/v1\/events\?/],
    ['/api/v1/contest/1/ledger', /Did you mean \/api\/v1\/contests\/\{id\}\/ledger\?/],
    ['/api/v1/', /Did you mean \/api\/v1\? An address has no slash at its end\./],
    ['/api/v2/contests/1', /Did you mean \/api\/v1\/contests\/\{id\}\?/],
    ['/api/contests', /Did you mean \/api\/v1\/contests\?/],
    ['/api/v1/archive/202610.details.jsonl', /Did you mean 2026-10\.details\.jsonl\.gz\?/],
    ['/api/v1/flows.csv', /Did you mean \/flows\.csv\?/],
    ['/api/v1/summary?format=csv', /Did you mean \/summary\.csv\?/],
    ['/summary.csv?x=1', /`x` is not known here/],
  ]
  for (const [path, detail] of table)
    test(path, async () => assert.match((await problemAt(path)).detail, detail))

  test('/status?format=csv, on a page', async () => {
    const response = await stage.get('/status?format=csv')
    assert.match(await response.text(), /Did you mean \/status\.csv\?/)
  })

  test('a page', async () => {
    const response = await stage.get('/contest/1')
    assert.match(await response.text(), /Did you mean \/contests\/\{id\}\?/)
  })

  test('and nothing that was sent is repeated', async () => {
    const address = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'
    for (const path of [`/api/v1/contest/${address}`, `/contest/${address}`, `/api/v2/${address}`]) {
      const text = await (await stage.get(path)).text()
      assert.ok(!text.includes(address.slice(0, 12)), path)
    }
  })

  test('an answer to a hostile path is made at once', async () => {
    const begun = process.cpuUsage()
    for (const path of ['/a'.repeat(2_000), `/api/v1/${'e'.repeat(4_000)}`, '/'.repeat(4_000)])
      assert.equal((await stage.get(path)).status, 404)
    const { user, system } = process.cpuUsage(begun)
    assert.ok(user + system < 1_000_000, 'microseconds of computing')
  })
})

suite('an answer that depends on the present', () => {
  test('states the minute that it computes with, and its ETag changes with the minute', async () => {
    for (const path of ['/api/v1/payouts', '/api/v1/status']) {
      const first = await stage.get(path)
      const { now } = (await first.json()) as { now: { at: string; atMs: number } }
      assert.equal(now.atMs % 60_000, 0, path)
      assert.equal(now.at, new Date(now.atMs).toISOString())
      const etag = first.headers.get('etag') ?? ''
      const same = await stage.get(path, { 'If-None-Match': etag })
      assert.equal(same.status, 304, path)
      assert.equal(same.headers.get('daybook-seq'), first.headers.get('daybook-seq'))
      assert.equal(same.headers.get('vary'), first.headers.get('vary'))
      assert.equal(same.headers.get('access-control-allow-origin'), '*')
      assert.match(same.headers.get('daybook-log') ?? '', /^[0-9a-f]{32}$/)
      assert.equal(same.headers.get('daybook-simulated'), '1')
      stage.setNow(msOf(now.atMs + 60_000))
      const later = await stage.get(path, { 'If-None-Match': etag })
      assert.equal(later.status, 200, path)
      await later.arrayBuffer()
    }
  })
})

suite('the public listener', () => {
  test('has no path of the private one, with a token or without', async () => {
    for (const path of [...HELD_PATHS.keys(), ...PRIVATE_PATHS]) {
      for (const headers of [{}, { authorization: `Bearer ${PUBLISH_TOKEN}` }]) {
        const response = await stage.get(path, headers)
        assert.equal(response.status, 404, path)
        await response.arrayBuffer()
      }
    }
  })
})

suite('a query with a wallet address', () => {
  const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'

  test('is refused as address-forbidden in every parameter of every endpoint, and is not repeated', async () => {
    for (const { path, parameters } of ENDPOINTS) {
      const there = path
        .replace('{file}', '2026-10.jsonl.gz')
        .replace('{type}', 'burn')
        .replaceAll(/\{\w+\}/g, '1')
        .replace('{tile...}', '000.p/13')
      // A transaction of an opaque log may have any form that is not proven to be an address.
      const names = parameters.map((one) => one.name).filter((name) => name !== 'tx')
      for (const name of [...names, 'nothing', ADDRESS]) {
        const response = await stage.get(`${there}?${name}=${ADDRESS}`)
        const text = await response.text()
        assert.equal(response.status, 400, `${there} ${name}`)
        assert.match(text, /"code":"address-forbidden"/, `${there} ${name}`)
        assert.ok(!text.includes(ADDRESS.slice(0, 10)), `${there} ${name}`)
      }
    }
  })
})
