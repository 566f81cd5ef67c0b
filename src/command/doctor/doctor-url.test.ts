import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { cacheVerdict, originVerdict } from './doctor-url.ts'

/** The answers of a service without a cache before it. The request and what is left of the rate limit differ. */
function served(path: string, count: number): Record<string, string> {
  const common = { 'daybook-log': 'a-log', ratelimit: `"default";r=${59 - count};t=60` }
  return path.includes('/events/')
    ? { ...common, 'cache-control': 'no-store', 'daybook-request': `r-${count}` }
    : { ...common, 'cache-control': 'public, max-age=0, must-revalidate' }
}

/** Finding about a service whose answers a proxy changes. */
async function found(change: (headers: Record<string, string>, path: string) => object): Promise<string> {
  let count = 0
  const { is, says } = await cacheVerdict(async (path) => {
    count += 1
    return new Response('body', { headers: { ...change(served(path, count), path) } })
  })
  return `${is}: ${says}`
}

suite('a cache on the way', () => {
  test('is no fault when it asks the service each time', async () => {
    const good = await found((headers) => ({ ...headers, age: '0', 'x-cache': 'MISS' }))
    assert.match(good, /^ok: the summary, the checkpoint and problems come from the service each time/)
    assert.match(await found((headers) => ({ ...headers, 'x-cache': 'RefreshHit from cloudfront' })), /^ok/)
    const unlimited = await found((headers) => ({ ...headers, ratelimit: '' }))
    assert.match(unlimited, /^ok/, 'without a rate limit')
  })

  const faults: Readonly<Record<string, Readonly<{ only: string; headers: object; says: RegExp }>>> = {
    'an age': { only: 'summary', headers: { age: '17' }, says: /\/summary: it comes from a cache, 17 s old/ },
    'a hit': { only: 'checkpoint', headers: { 'x-cache': 'HIT' }, says: /\/checkpoint: .*\(x-cache: HIT\)/ },
    'a hit of RFC 9211': {
      only: 'summary',
      headers: { 'cache-status': 'edge; hit; ttl=9' },
      says: /cache-status/,
    },
    'the same request again': {
      only: '/events/',
      headers: { 'daybook-request': 'r-1' },
      says: /\/events\/\d+: the same answer came 3 times: /,
    },
    'the same rate limit again': {
      only: 'checkpoint',
      headers: { ratelimit: '"default";r=50;t=60' },
      says: /the same answer came 3 times to one caller/,
    },
    'another Cache-Control': {
      only: '/events/',
      headers: { 'cache-control': 'max-age=3600' },
      says: /Cache-Control is “max-age=3600” and lacks no-store/,
    },
  }
  for (const [sign, { only, headers, says }] of Object.entries(faults)) {
    test(`is found by ${sign}`, async () => {
      const said = await found((own, path) => (path.includes(only) ? { ...own, ...headers } : own))
      assert.match(said, /^wrong: \/api\/v1\//)
      assert.match(said, says)
    })
  }

  const failures = [
    [429, '40', 'the rate limit of this address is used up: run doctor again in 40 s'],
    [429, '', 'the rate limit of this address is used up: run doctor again later'],
    [503, '', 'the service answered 503'],
  ] as const
  for (const [status, seconds, says] of failures) {
    test(`is not blamed for a ${status} with${seconds === '' ? 'out' : ''} Retry-After`, async () => {
      const headers = {
        'cache-control': 'no-store',
        'daybook-log': 'a-log',
        ...(seconds === '' ? {} : { 'retry-after': seconds }),
      }
      const answer = async (): Promise<Response> => new Response('{}', { status, headers })
      const { is, says: said } = await cacheVerdict(answer)
      assert.equal(`${is}: ${said}`, `wrong: /api/v1/summary: ${says}`)
    })
  }
})

suite('the name of a log', () => {
  const levels = (origin: string, url: string): string | null =>
    originVerdict({ origin, simulated: origin.startsWith('simulated.') }, url)?.is ?? null

  test('that names no site is a fault behind a public address', () => {
    assert.equal(levels('localhost/daybook', 'https://data.example.org'), 'wrong')
    assert.equal(levels('simulated.localhost/daybook', 'https://data.example.org'), 'warn')
    assert.equal(levels('localhost/daybook', 'http://192.0.2.7:8080'), 'wrong')
  })

  test('is no fault when it names a site, or on this machine', () => {
    assert.equal(levels('data.example.org/book', 'https://data.example.org'), null)
    for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080', 'book.localhost'])
      assert.equal(levels('localhost/daybook', `http://${host}`), null, host)
  })
})
