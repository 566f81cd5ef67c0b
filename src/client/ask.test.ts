import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openVirtualClock } from '../../test/stage/virtual-clock.ts'
import { type Ask, type AskSettings, openAsk } from './ask.ts'
import type { DaybookError } from './daybook-error.ts'

type Reply =
  | Readonly<{ status?: number; headers?: Record<string, string>; body?: string }>
  | 'down'
  | 'silent'
type Sent = Readonly<{ url: string; atMs: number; headers: Headers }>
type Stage = Readonly<{ ask: Ask; sent: Sent[]; now: () => number }>

/** A client of a service that gives these replies in turn, and repeats the last one. */
function stage(replies: readonly Reply[], settings: Partial<AskSettings> = {}): Stage {
  const clock = openVirtualClock()
  const sent: Sent[] = []
  const ask = openAsk({
    base: 'https://daybook.test',
    ...clock,
    random: () => 0.5,
    fetch: async (url, init) => {
      const reply = replies[Math.min(sent.length, replies.length - 1)] ?? 'down'
      sent.push({ url, atMs: clock.now(), headers: new Headers(init.headers) })
      if (reply === 'down') throw new TypeError('fetch failed')
      if (reply === 'silent') return new Promise(() => undefined)
      return new Response(reply.body ?? '{}', { status: reply.status ?? 200, headers: reply.headers ?? {} })
    },
    ...settings,
  })
  return { ask, sent, now: clock.now }
}

const problem = (status: number, fields: object, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify(fields),
})

const failure = async (work: Promise<unknown>): Promise<DaybookError> =>
  work.then(
    () => assert.fail('it fails'),
    (error) => error,
  )

suite('a request', () => {
  test('returns the complete answer with its headers', async () => {
    const { ask, sent } = stage([{ headers: { 'daybook-seq': '7' }, body: '{"a":1}' }])
    const answer = await ask.get('/api/v1/summary?at=0', { accept: 'application/json' })
    assert.deepEqual([answer.status, answer.headers.get('daybook-seq'), answer.json()], [200, '7', { a: 1 }])
    assert.equal(answer.text(), '{"a":1}')
    assert.equal(answer.bytes().byteLength, 7)
    assert.equal(sent[0]?.url, 'https://daybook.test/api/v1/summary?at=0')
    assert.equal(sent[0]?.headers.get('accept'), 'application/json')
  })

  test('is sent again when the node is behind the event that it names', async () => {
    const behind = problem(503, { code: 'behind', detail: 'Behind.', head: 4 }, { 'retry-after': '2' })
    const { ask, sent, now } = stage([behind, { body: '{"events":[]}' }])
    assert.equal((await ask.get('/api/v1/events?after=5')).status, 200)
    assert.equal(sent.length, 2)
    assert.ok(now() >= 2_000)
  })

  test('throws the problem of the service without a retry', async () => {
    const errors = [{ parameter: 'limit', message: 'too many', allowed: ['1 to 10000'] }]
    const { ask, sent } = stage([problem(400, { code: 'invalid-parameter', detail: 'No.', errors })])
    const error = await failure(ask.get('/api/v1/events?limit=0'))
    assert.deepEqual(
      [error.name, error.code, error.status, error.message, error.errors],
      ['DaybookError', 'invalid-parameter', 400, 'No.', errors],
    )
    assert.equal(sent.length, 1)
  })

  for (const body of ['', 'null', '[]', '{', '<html>', '{"code":7,"detail":{},"errors":"x"}']) {
    test(`keeps the status when the body of the problem is ${JSON.stringify(body)}`, async () => {
      const headers = { 'content-type': 'application/problem+json' }
      const error = await failure(stage([{ status: 404, headers, body }]).ask.get('/x'))
      assert.deepEqual([error.code, error.status, error.errors], ['unexpected-answer', 404, []])
    })
  }

  test('throws when an answer that should be JSON is none', async () => {
    const answer = await stage([{ body: 'no' }]).ask.get('/x')
    assert.throws(() => answer.json(), { code: 'unexpected-answer' })
  })

  for (const status of [429, 503]) {
    test(`waits at least as long as a ${status} says`, async () => {
      const { ask, sent } = stage([problem(status, { code: 'x' }, { 'retry-after': '17' }), {}])
      assert.equal((await ask.get('/x')).status, 200)
      assert.deepEqual(
        sent.map(({ atMs }) => atMs),
        [0, 17_500],
      )
    })
  }

  for (const wait of ['Sat, 03 Oct 2026 11:22:43 GMT', 'soon', '-1', '1.5', '']) {
    test(`backs off as after any failure when Retry-After is ${JSON.stringify(wait)}`, async () => {
      const { ask, now } = stage([{ status: 503, headers: { 'retry-after': wait } }, {}])
      await ask.get('/x')
      assert.equal(now(), 500)
    })
  }

  test('throws when Retry-After is too long', async () => {
    const { ask, sent } = stage([problem(503, {}, { 'retry-after': '3600' })])
    const error = await failure(ask.get('/x'))
    assert.deepEqual([error.status, error.retryAfterMs, sent.length], [503, 3_600_000, 1])
  })

  for (const reply of ['down', { status: 500 }, { status: 502 }] as const) {
    test(`is retried ever later after ${JSON.stringify(reply)}, then fails`, async () => {
      const { ask, sent } = stage([reply])
      const error = await failure(ask.get('/x'))
      assert.equal(error.code, reply === 'down' ? 'unreachable' : 'unexpected-answer')
      assert.deepEqual(
        sent.map(({ atMs }) => atMs),
        [0, 500, 1_500, 3_500, 7_500, 15_500],
      )
    })
  }

  test('times out when nothing arrives, and is retried', async () => {
    const { ask, sent } = stage(['silent', {}])
    assert.equal((await ask.get('/x', { silenceMs: 5_000 })).status, 200)
    assert.deepEqual(
      sent.map(({ atMs }) => atMs),
      [0, 5_500],
    )
  })

  test('is retried when the body of its answer breaks off', async () => {
    let times = 0
    const fetch = async (): Promise<Response> => {
      times += 1
      const broken = times === 1
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"a":'))
          if (broken) controller.error(new TypeError('terminated'))
          else controller.enqueue(new TextEncoder().encode('1}'))
          if (!broken) controller.close()
        },
      })
      return new Response(body)
    }
    assert.deepEqual((await stage([], { fetch }).ask.get('/x')).json(), { a: 1 })
    assert.equal(times, 2)
  })

  test('ends with the reason of its signal, also while waiting', async () => {
    const stop = new AbortController()
    const { ask } = stage([{ status: 503, headers: { 'retry-after': '60' } }], {
      sleep: async (ms, signal) => {
        if (ms > 50_000) stop.abort()
        signal?.throwIfAborted()
        return new Promise(() => undefined)
      },
    })
    assert.equal((await failure(ask.get('/x', { signal: stop.signal }))).name, 'AbortError')
    assert.equal((await failure(ask.get('/x', { signal: AbortSignal.abort() }))).name, 'AbortError')
  })

  test('never goes to another origin', async () => {
    const { ask, sent } = stage([{}])
    for (const path of ['https://other.test/api/v1/events', '//other.test/x']) {
      assert.equal((await failure(ask.get(path))).code, 'unexpected-answer')
    }
    assert.equal(sent.length, 0)
  })

  for (const base of ['ftp://daybook.test', 'https://daybook.test/below', 'daybook.test']) {
    test(`is refused for the base ${base}`, () => assert.throws(() => openAsk({ base }), TypeError))
  }
})

suite('a long series of requests', () => {
  const WINDOW_MS = 60_000

  /** A service with an exact sliding window, partly used by others, whose immutable answers state no limit. */
  function limited(requests: number, statesIt: (url: string) => boolean, others = 0): Stage {
    const clock = openVirtualClock()
    const sent: Sent[] = []
    const counted: number[] = Array.from({ length: others }, () => 0)
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      const at = clock.now()
      sent.push({ url, atMs: at, headers: new Headers(init.headers) })
      while ((counted[0] ?? at) <= at - WINDOW_MS) counted.shift()
      const isOver = counted.length >= requests
      if (!isOver) counted.push(at)
      const t = Math.ceil(((counted[0] ?? at) + WINDOW_MS - at) / 1000)
      const stated = {
        'ratelimit-policy': `"default";q=${requests};w=60`,
        ratelimit: `"default";r=${requests - counted.length};t=${t}`,
      }
      if (isOver) return new Response('{}', { status: 429, headers: { ...stated, 'retry-after': String(t) } })
      return new Response('{}', { headers: statesIt(url) ? stated : {} })
    }
    const ask = openAsk({ base: 'https://daybook.test', ...clock, random: () => 0.5, fetch })
    const own: Stage['ask'] = {
      ...ask,
      get: async (path, options) => ask.get(path, { ...options, attemptsMax: 1 }),
    }
    return { ask: own, sent, now: clock.now }
  }

  for (const [name, statesIt] of [
    ['states its limit in every answer', () => true],
    ['states its limit only where an answer may change', (url: string) => url.endsWith('/status')],
  ] as const) {
    test(`gets no 429 from a service that ${name}`, async () => {
      const { ask, now } = limited(60, statesIt)
      for (let n = 0; n < 300; n++) await ask.get(`/api/v1/events?after=${n}`)
      // At 60 requests a minute, 300 take more than four minutes.
      assert.ok(now() > 3 * WINDOW_MS && now() < 8 * WINDOW_MS, `${now()} ms`)
    })
  }

  test('leaves enough for others of its address', async () => {
    const { ask } = limited(60, () => true, 25)
    for (let n = 0; n < 150; n++) await ask.get('/api/v1/events')
  })

  test('gets no 429 when many are sent at once', async () => {
    const { ask } = limited(60, (url) => url.endsWith('/status'))
    await ask.get('/api/v1/status')
    await Promise.all(Array.from({ length: 200 }, (_, n) => ask.get(`/api/v1/events/${n}`)))
  })

  test('is not slowed without a rate limit', async () => {
    const { ask, now, sent } = stage([{}])
    for (let n = 0; n < 500; n++) await ask.get('/api/v1/events')
    assert.deepEqual([now(), sent.length], [0, 501])
  })

  test('fetches tiles at the pace of their own rate limit', async () => {
    const { ask, now } = limited(600, (url) => url.endsWith('/status'))
    for (let n = 0; n < 1_000; n++) await ask.get(`/api/v1/log/tile/0/${n}`)
    assert.ok(now() > 0 && now() < 3 * WINDOW_MS, `${now()} ms`)
  })
})
