import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import {
  allocateAllowance,
  type Allowance,
  ALLOWANCE_KEYS,
  type Counter,
  type Decision,
  evictedBytes,
  evictedCount,
  extraCost,
  formatPolicy,
  formatRateLimit,
  keepEvicted,
  openAllowance,
  openEvicted,
  type Policy,
  scopeOfNothing,
} from './allowance.ts'
import { openApiStage } from '../../../test/stage/api-stage.ts'
import { getRequest, sendRaw } from '../../../test/stage/raw-request.ts'
import { DAY_MS } from '../../protocol/moment.ts'
import type { RequestPathParts } from '../request/request-path.ts'

const SECRET = 'a secret of this test alone'
const DEFAULT: Policy = { name: 'default', requests: 60, windowMs: 60_000 }
const SMALL: Policy = { name: 'small', requests: 3, windowMs: 4000 }

type Step = Readonly<{ key: string; waitMs: number }>

function fresh(policy: Policy, capacity = 1000): Allowance {
  return openAllowance(allocateAllowance(policy, SECRET, capacity))
}

/** Reference: a list of every accepted moment of every key, searched from the start each time. */
function openNaive({ requests, windowMs }: Policy): (key: string, nowMs: number) => Decision {
  const accepted = new Map<string, number[]>()
  return (key, nowMs) => {
    const live = (accepted.get(key) ?? []).filter((moment) => nowMs - moment < windowMs)
    const allowed = live.length < requests
    if (allowed) live.push(nowMs)
    accepted.set(key, live)
    const waitSeconds = Math.ceil(((live[0] ?? nowMs) + windowMs - nowMs) / 1000)
    return {
      allowed,
      remaining: requests - live.length,
      resetSeconds: waitSeconds,
      retryAfterSeconds: allowed ? 0 : waitSeconds,
    }
  }
}

function steps(keys: number, waits: readonly number[], maxLength = 120): fc.Arbitrary<readonly Step[]> {
  const key = fc.integer({ min: 1, max: keys }).map(String)
  const waitMs = fc.oneof(fc.constantFrom(...waits), fc.integer({ min: 0, max: 900 }))
  return fc.array(fc.record({ key, waitMs }), { maxLength, size: 'max' })
}

/** Runs a schedule and passes on each decision with its moment. */
function play(schedule: readonly Step[], startMs: number, each: (key: string, nowMs: number) => void): void {
  let nowMs = startMs
  for (const { key, waitMs } of schedule) {
    nowMs += waitMs
    each(key, nowMs)
  }
}

/** No window of a policy, wherever it begins, may hold more accepted requests than the policy allows. */
function assertWithin({ requests, windowMs }: Policy, accepted: readonly number[]): void {
  for (const [index, first] of accepted.entries()) {
    const beyond = accepted[index + requests]
    assert.ok(
      beyond === undefined || beyond - first >= windowMs,
      `${requests + 1} requests from ${first} to ${beyond}`,
    )
  }
}

const edges = [
  0,
  1,
  SMALL.windowMs - 1,
  SMALL.windowMs,
  SMALL.windowMs + 1,
  65_535,
  65_536,
  65_537,
  2 ** 32,
  1000,
]

suite('an allowance', () => {
  test('gives a new address nothing of the one whose place it takes, as far as their buckets differ', () => {
    const allowance = fresh(SMALL, 100)
    const spend = (key: string): number => allowance.decide(key, 1_000).remaining
    for (let key = 0; key < 100; key += 1) for (let request = 0; request < 3; request += 1) spend(`a${key}`)
    const left = Array.from({ length: 50 }, (_, key) => spend(`b${key}`))
    assert.ok(left.filter((remaining) => remaining === 2).length > 25, left.join(' '))
  })

  test('lets no moment pass before that of an earlier decision: time follows the lock', () => {
    const memory = allocateAllowance(SMALL, SECRET, 1000)
    const [one, two] = [openAllowance(memory), openAllowance(memory)]
    one.decide('a', 10_000)
    assert.equal(two.decide('b', 9_000).remaining, 2)
    assert.equal(two.decide('b', 13_500).remaining, 1)
  })

  test('accepts 60 requests in any 60 seconds, and not one more at the edge of a minute', () => {
    const allowance = fresh(DEFAULT)
    const accepted: number[] = []
    for (let nowMs = 59_000; nowMs < 190_000; nowMs += 50) {
      if (allowance.decide('a', nowMs).allowed) accepted.push(nowMs)
    }
    assertWithin(DEFAULT, accepted)
    assert.equal(accepted.filter((moment) => moment < 119_000).length, 60)
    assert.equal(accepted.length, 180)
  })

  test('decides like a list of all moments, for any schedule and keys', () => {
    fc.assert(
      fc.property(steps(4, edges), fc.nat(2 ** 40), (schedule, startMs) => {
        const allowance = fresh(SMALL, 4)
        const naive = openNaive(SMALL)
        play(schedule, startMs, (key, nowMs) => {
          assert.deepEqual(allowance.decide(key, nowMs), naive(key, nowMs))
        })
      }),
      { numRuns: 500 },
    )
  })

  test('with 60 requests a minute decides like a list of all moments', () => {
    fc.assert(
      fc.property(steps(2, [0, 1, 59_999, 60_000, 5000], 1000), (schedule) => {
        const allowance = fresh(DEFAULT, 10)
        const naive = openNaive(DEFAULT)
        play(schedule, 7, (key, nowMs) => assert.deepEqual(allowance.decide(key, nowMs), naive(key, nowMs)))
      }),
      { numRuns: 100 },
    )
  })

  test('is renewed after the announced time, and not one second earlier', () => {
    fc.assert(
      fc.property(steps(7, [0, 1, 999, 1000, 1001]), fc.boolean(), (schedule, crowded) => {
        const memory = allocateAllowance(SMALL, SECRET, crowded ? 3 : 10)
        const allowance = openAllowance(memory)
        play(schedule, 0, (key, nowMs) => {
          const { allowed, retryAfterSeconds } = allowance.decide(key, nowMs)
          if (allowed) return
          assert.ok(retryAfterSeconds >= 1)
          // Asked of copies, because the clock of an allowance never goes back.
          const later = openAllowance(copyOf(memory))
          assert.equal(later.decide(key, nowMs + (retryAfterSeconds - 1) * 1000).allowed, false)
          assert.equal(later.decide(key, nowMs + retryAfterSeconds * 1000).allowed, true)
        })
      }),
    )
  })

  test('is not used by a refused request', () => {
    const allowance = fresh(DEFAULT)
    for (let n = 0; n < 60; n += 1) assert.ok(allowance.decide('a', 0).allowed)
    for (let nowMs = 0; nowMs < 60_000; nowMs += 100) assert.ok(!allowance.decide('a', nowMs).allowed)
    assert.deepEqual(allowance.decide('a', 60_000), {
      allowed: true,
      remaining: 59,
      resetSeconds: 60,
      retryAfterSeconds: 0,
    })
  })

  test('is not renewed by a clock that another thread read earlier', () => {
    const allowance = fresh(SMALL)
    for (const nowMs of [5000, 4000, 1]) assert.ok(allowance.decide('a', nowMs).allowed)
    assert.equal(allowance.decide('a', 8999).allowed, false)
    assert.equal(allowance.decide('a', 9000).allowed, true)
  })

  test('of one policy is independent of other policies', () => {
    const tiles = fresh({ name: 'tiles', requests: 600, windowMs: 60_000 }, 10)
    const pages = fresh(DEFAULT, 10)
    let accepted = 0
    for (let n = 0; n < 1000; n += 1) accepted += Number(tiles.decide('a', n).allowed)
    assert.equal(accepted, 600)
    assert.ok(pages.decide('a', 1000).allowed)
  })

  test('is announced in the RateLimit headers', () => {
    const allowed = { allowed: true, remaining: 12, resetSeconds: 34, retryAfterSeconds: 0 }
    assert.equal(formatPolicy(DEFAULT), '"default";q=60;w=60')
    assert.equal(formatRateLimit(DEFAULT, allowed), '"default";r=12;t=34')
  })
})

suite('a full table of addresses', () => {
  test('never gives an address more than its allowance in any window', () => {
    fc.assert(
      fc.property(steps(9, edges, 300), fc.integer({ min: 1, max: 5 }), (schedule, capacity) => {
        const allowance = fresh(SMALL, capacity)
        const accepted = new Map<string, number[]>()
        play(schedule, 0, (key, nowMs) => {
          if (allowance.decide(key, nowMs).allowed) accepted.set(key, [...(accepted.get(key) ?? []), nowMs])
          assert.ok(allowance.keys() <= capacity)
        })
        for (const moments of accepted.values()) assertWithin(SMALL, moments)
      }),
      { numRuns: 500 },
    )
  })

  test('costs nobody anything if the address idle longest has been idle for a window', () => {
    const allowance = fresh(SMALL, 2)
    const naive = openNaive(SMALL)
    for (let n = 0; n < 200; n += 1) {
      const nowMs = n * (SMALL.windowMs / 2)
      assert.deepEqual(allowance.decide(String(n), nowMs), naive(String(n), nowMs))
    }
  })

  test('drops the address idle longest, and never one that keeps asking', () => {
    const allowance = fresh(DEFAULT, 100)
    for (let n = 0; n < 60; n += 1) assert.ok(allowance.decide('offender', n).allowed)
    let nowMs = 60
    for (let n = 0; n < 5000; n += 1, nowMs += 1) {
      allowance.decide(`stranger ${n}`, nowMs)
      if (n % 50 === 0) assert.equal(allowance.decide('offender', nowMs).allowed, false)
    }
    assert.equal(allowance.decide('offender', 60_000).allowed, true)
  })

  test('of the default size holds 100,000 addresses in less than 30 MB', () => {
    const memory = allocateAllowance(DEFAULT, SECRET)
    const allowance = openAllowance(memory)
    for (let n = 0; n < 150_000; n += 1) assert.ok(allowance.decide(`flood ${n}`, Math.floor(n / 10)).allowed)
    assert.equal(allowance.keys(), ALLOWANCE_KEYS)
    assert.ok(memory.buffer.byteLength < 30e6)
  })
})

suite('an allowance shared by threads', () => {
  test('accepts exactly as many requests of each key as in one thread', async () => {
    const memory = allocateAllowance(DEFAULT, SECRET, 2 * SHARED_KEYS * THREADS)
    const ready = new Int32Array(new SharedArrayBuffer(4))
    const threads = Array.from({ length: THREADS }, (_, thread) =>
      acceptedByThread({ memory, ready, thread }),
    )
    const counts = await Promise.all(threads)
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      DEFAULT.requests * SHARED_KEYS,
    )
  })
})

const THREADS = 4
const SHARED_KEYS = 300

// All threads start at once and go through the same keys, each adding its own keys between them.
const THREAD = `
  import { parentPort, workerData } from 'node:worker_threads'
  const { memory, ready, thread, module } = workerData
  const { openAllowance } = await import(module)
  const allowance = openAllowance(memory)
  Atomics.add(ready, 0, 1)
  while (Atomics.load(ready, 0) < ${THREADS}) continue
  let accepted = 0
  for (let key = 0; key < ${SHARED_KEYS}; key += 1) {
    allowance.decide('own ' + thread + ' ' + key, key)
    for (let n = 0; n < 70; n += 1) if (allowance.decide('shared ' + key, key).allowed) accepted += 1
  }
  parentPort.postMessage(accepted)
`

async function acceptedByThread(data: Readonly<Record<string, unknown>>): Promise<number> {
  const module = new URL('./allowance.ts', import.meta.url).href
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`), {
    workerData: { ...data, module },
  })
  const [accepted] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  return accepted
}

function copyOf<Memory extends { readonly buffer: SharedArrayBuffer }>(memory: Memory): Memory {
  const buffer = new SharedArrayBuffer(memory.buffer.byteLength)
  new Uint8Array(buffer).set(new Uint8Array(memory.buffer))
  return { ...memory, buffer }
}

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

const WINDOW_MS = 4_000
/** A sixth of the window, after which a request that has left it is forgotten at the latest. */
const SLICE_MS = 667
const CAPACITY = 3

const freshEvicted = (): ReturnType<typeof openEvicted> =>
  openEvicted(new SharedArrayBuffer(evictedBytes(CAPACITY)), 0, CAPACITY, WINDOW_MS)

suite('the requests of dropped addresses', () => {
  test('count from the first moment of the clock until they have left the window, and not much longer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat(3 * SLICE_MS), fc.nat(2 ** 40)), (atMs) => {
        const evicted = freshEvicted()
        keepEvicted(evicted, 1, atMs)
        for (const nowMs of [atMs, atMs + WINDOW_MS - 1]) assert.equal(evictedCount(evicted, 1, nowMs), 1)
        assert.equal(evictedCount(evicted, 1, atMs + WINDOW_MS + SLICE_MS), 0)
      }),
    )
  })

  test('count for the addresses of their bucket only', () => {
    const evicted = freshEvicted()
    for (let bucket = 0; bucket < 4; bucket += 1)
      for (let request = 0; request < bucket; request += 1) keepEvicted(evicted, bucket, 5_000)
    for (const hash of [0, 1, 2, 3, 4, 7, 2 ** 32 - 1])
      assert.equal(evictedCount(evicted, hash, 5_000), hash % 4, `hash ${hash}`)
  })

  test('are all counted in any window, however they are spread', () => {
    const ascending = fc
      .array(fc.nat(900), { maxLength: 60, size: 'max' })
      .map((waits) => waits.map((_, index) => waits.slice(0, index + 1).reduce((sum, wait) => sum + wait, 0)))
    fc.assert(
      fc.property(ascending, (moments) => {
        const evicted = freshEvicted()
        for (const [index, atMs] of moments.entries()) {
          keepEvicted(evicted, 2, atMs)
          const within = moments.slice(0, index + 1).filter((moment) => atMs - moment < WINDOW_MS).length
          const longer = moments
            .slice(0, index + 1)
            .filter((moment) => atMs - moment < WINDOW_MS + SLICE_MS).length
          const counted = evictedCount(evicted, 2, atMs)
          assert.ok(counted >= within && counted <= longer, `${within} to ${longer}, not ${counted}`)
        }
      }),
    )
  })
})

suite('the allowance of a request without a route', () => {
  for (const [path, underApi, scope] of [
    ['/nothing', false, 'pages'],
    ['/api/v1/log/tile/0/none', false, 'pages'],
    ['/api/v1/nothing', true, 'api'],
    ['/api/v2/log/tile/0/000', true, 'api'],
    ['/api/v1/log/tile/none', true, 'tiles'],
  ] as const) {
    test(`is that of ${scope} at ${path}${underApi ? '' : ', outside of the API'}`, () =>
      assert.equal(scopeOfNothing(path, underApi), scope))
  }
})

test('a page costs one unit more for each thousand rows', () => {
  const costs = [undefined, 0, 999, 1_000, 1_999, 2_000].map(extraCost)
  assert.deepEqual(costs, [0, 0, 0, 1, 1, 2])
})

suite('the allowance of a page', () => {
  for (const [scope, paths] of [
    ['pages', ['/', '/flows', '/events/1', '/contests/1/ledger']],
    ['pages', ['/flows.svg', '/events/1.png']],
    ['api', ['/flows.csv', '/events.csv', '/events/1.csv', '/contests/1/ledger.csv']],
    ['api', ['/flows.json', '/events/1.json', '/contests/1.json', '/contests/1/ledger.json']],
    ['api', ['/flows.metadata.json', '/events/1.metadata.json', '/contests/1/ledger.metadata.json']],
    ['api', ['/schedule.ics', '/payouts.ics']],
  ] as const) {
    test(`is that of ${scope}: ${paths.join(', ')}`, async () => {
      const asked: string[] = []
      const counterOf = (name: string): Counter => ({
        policy: { name, requests: 60, windowMs: 60_000 },
        decide() {
          asked.push(name)
          return { allowed: true, remaining: 1, resetSeconds: 1, retryAfterSeconds: 1 }
        },
      })
      const counters = { api: counterOf('api'), pages: counterOf('pages'), tiles: counterOf('tiles') }
      await using stage = await openApiStage({ counters })
      const found = paths.map(async (path) => {
        const { status } = await fetch(`http://127.0.0.1:${stage.port}${path}`, { redirect: 'manual' })
        return status === 200 || (status === 308 && path.endsWith('.json'))
      })
      assert.ok(!(await Promise.all(found)).includes(false))
      assert.deepEqual(new Set(asked), new Set([scope]))
    })
  }
})
