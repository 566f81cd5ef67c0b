import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import {
  allocateAllowance,
  type Allowance,
  ALLOWANCE_KEYS,
  type Decision,
  formatPolicy,
  formatRateLimit,
  openAllowance,
  type Policy,
  rateLimitHeaders,
} from './allowance.ts'

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
    assert.deepEqual(Object.keys(rateLimitHeaders(DEFAULT, allowed)), ['RateLimit-Policy', 'RateLimit'])
    const rejected = { allowed: false, remaining: 0, resetSeconds: 7, retryAfterSeconds: 7 }
    assert.equal(rateLimitHeaders(DEFAULT, rejected)['Retry-After'], '7')
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
