import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openVirtualClock } from '../../test/stage/virtual-clock.ts'
import { type Daybook, openDaybook } from './daybook.ts'
import type { StreamAsked, StreamStatus } from './stream.ts'

type Reply = (signal: AbortSignal) => Response
type Stage = Readonly<{
  daybook: Daybook
  /** Requests with their times. */
  asked: (readonly [path: string, atMs: number])[]
  statuses: StreamStatus[]
  states: () => readonly string[]
  follow: (asked: StreamAsked) => AsyncIterable<Readonly<{ seq: number }>>
  /** Number of open connections. */
  open: () => number
}>

const frame = (seq: number, type = 'play', kots: string | null = null): string =>
  `id: ${seq}\ndata: ${JSON.stringify({ seq, type, kind: 'vote', contestId: null, kots })}\n\n`

const position = (seq: number, head: number = seq): string =>
  `event: position\nid: ${seq}\ndata: ${JSON.stringify({ seq, head, live: seq === head })}\n\n`

let connections = 0

/** A stream that sends a text, then ends or stays silent. */
const saying =
  (text: string, then: 'end' | 'silence' = 'silence', log = 'a'): Reply =>
  (signal) => {
    connections += 1
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text))
        if (then === 'end') {
          connections -= 1
          controller.close()
          return
        }
        signal.addEventListener('abort', () => {
          connections -= 1
          controller.error(signal.reason)
        })
      },
    })
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'daybook-log': log }
    return new Response(body, { headers })
  }

const json =
  (body: object, status = 200, headers: Record<string, string> = {}): Reply =>
  () =>
    new Response(JSON.stringify(body), {
      status,
      headers: {
        'content-type': status === 200 ? 'application/json' : 'application/problem+json',
        ...headers,
      },
    })

const down: Reply = () => {
  throw new TypeError('fetch failed')
}

/** A client of a service that gives these replies in turn. */
function stage(...replies: readonly Reply[]): Stage {
  const clock = openVirtualClock()
  const asked: [string, number][] = []
  const statuses: StreamStatus[] = []
  connections = 0
  const daybook = openDaybook({
    base: 'https://daybook.test',
    ...clock,
    random: () => 0.5,
    fetch: async (url, init) => {
      const reply = replies[asked.length]
      asked.push([url.slice('https://daybook.test/api/v1'.length), clock.now()])
      assert.ok(reply !== undefined, `${url} is asked for the time ${asked.length}`)
      return reply(init.signal ?? new AbortController().signal)
    },
  })
  return {
    daybook,
    asked,
    statuses,
    states: () => statuses.map(({ state }) => state),
    follow: (one) => daybook.stream({ ...one, onStatus: (status) => statuses.push(status) }),
    open: () => connections,
  }
}

/** Seqs of the events up to `last`, where the loop is left. */
async function seqsUntil(last: number, events: AsyncIterable<Readonly<{ seq: number }>>): Promise<number[]> {
  const seqs: number[] = []
  for await (const { seq } of events) {
    seqs.push(seq)
    if (seq === last) break
  }
  return seqs
}

suite('a stream of the client', () => {
  test('yields the events after its cursor and reports its status', async () => {
    const { asked, follow, statuses, open } = stage(
      saying(`retry: 4000\n\n${position(4, 6)}` + frame(5) + frame(6) + position(6) + frame(7)),
    )
    assert.deepEqual(await seqsUntil(7, follow({ after: 4 })), [5, 6, 7])
    assert.deepEqual(asked, [['/stream?after=4', 0]])
    assert.deepEqual(
      statuses.map(({ state, seq, head }) => [state, seq, head]),
      [
        ['catching-up', 4, 4],
        ['catching-up', 4, 6],
        ['live', 4, 6],
        ['live', 4, 6],
        ['ended', 4, 7],
      ],
    )
    assert.equal(open(), 0, 'leaving the loop closes the connection')
  })

  test('resolves the head once, also when its first connections fail', async () => {
    const { asked, follow } = stage(down, json({ asOf: { seq: 9 } }), down, saying(frame(10)))
    assert.deepEqual(await seqsUntil(10, follow({})), [10])
    assert.deepEqual(
      asked.map(([path]) => path),
      ['/status', '/status', '/stream?after=9', '/stream?after=9'],
    )
  })

  test('reconnects after its last event, as late as the service asks', async () => {
    const { asked, follow, statuses } = stage(
      saying(`retry: 4000\n\n${frame(1)}`, 'end'),
      saying(frame(2) + position(2), 'end'),
      saying(frame(3)),
    )
    assert.deepEqual(await seqsUntil(3, follow({ after: 0 })), [1, 2, 3])
    assert.deepEqual(asked, [
      ['/stream?after=0', 0],
      ['/stream?after=1', 4_000],
      ['/stream?after=2', 8_000],
    ])
    const waited = statuses.filter(({ state }) => state === 'reconnecting')
    assert.deepEqual(
      waited.map(({ inMs }) => inMs),
      [4_000, 4_000],
    )
  })

  test('ignores repeated events', async () => {
    const { follow } = stage(saying(frame(1) + frame(1) + frame(2) + frame(1) + frame(2) + frame(3)))
    assert.deepEqual(await seqsUntil(3, follow({ after: 0 })), [1, 2, 3])
  })

  for (const [name, text] of [
    ['an event', frame(1) + frame(4)],
    ['a position', frame(1) + position(3) + frame(4)],
  ] as const) {
    test(`reads events that ${name} skips from the pages of the log`, async () => {
      const events = [2, 3].map((seq) => ({ seq, type: 'play', kind: 'vote', contestId: null, kots: null }))
      const { asked, follow, states } = stage(
        saying(text),
        json({ events, page: { scannedTo: 3, hasMore: true, next: '/api/v1/events?after=3&limit=2' } }),
      )
      assert.deepEqual(await seqsUntil(4, follow({ after: 0 })), [1, 2, 3, 4])
      assert.deepEqual(asked[1], ['/events?limit=2&after=1', 0])
      assert.ok(states().includes('repairing'))
    })
  }

  test('throws a gap that the pages cannot fill', async () => {
    const empty = json({ events: [], page: { scannedTo: 1, hasMore: false, next: null } })
    const turns = Array.from({ length: 6 }, () => [saying(frame(3)), empty]).flat()
    const { follow, states } = stage(...turns)
    await assert.rejects(seqsUntil(3, follow({ after: 1 })), { code: 'gap', message: 'seq 3 follows seq 1' })
    assert.equal(states().at(-1), 'failed')
  })

  test('reconnects after two and a half heartbeats of silence', async () => {
    const { asked, follow, states, statuses } = stage(saying(frame(1)), saying(frame(2)))
    assert.deepEqual(await seqsUntil(2, follow({ after: 0 })), [1, 2])
    assert.deepEqual(asked[1], ['/stream?after=1', 37_500 + 500])
    assert.ok(states().includes('reconnecting'))
    const cause = statuses.find(({ state }) => state === 'reconnecting')?.cause
    assert.ok(cause instanceof Error && 'code' in cause && cause.code === 'timeout')
  })

  test('waits as long as a 429 or 503 says', async () => {
    const { asked, follow, states } = stage(
      json({ code: 'rate-limited' }, 429, { 'retry-after': '7' }),
      json({ code: 'stream-capacity' }, 503, { 'retry-after': '30' }),
      saying(frame(1)),
    )
    assert.deepEqual(await seqsUntil(1, follow({ after: 0 })), [1])
    assert.deepEqual(
      asked.map(([, atMs]) => atMs),
      [0, 7_500, 38_000],
    )
    assert.deepEqual(states().slice(0, 3), ['reconnecting', 'connecting', 'reconnecting'])
  })

  test('waits ever longer while the service is unreachable, reports offline, and never gives up', async () => {
    const { asked, follow, states } = stage(...Array.from({ length: 20 }, () => down), saying(frame(1)))
    assert.deepEqual(await seqsUntil(1, follow({ after: 0 })), [1])
    const times = asked.map(([, atMs]) => atMs)
    assert.deepEqual(times.slice(0, 6), [0, 500, 1_500, 3_500, 7_500, 15_500])
    assert.ok(times.slice(6).every((atMs, index) => atMs - (times[index + 5] ?? 0) <= 30_000))
    assert.deepEqual(states().slice(0, 2), ['offline', 'connecting'])
  })

  test('resets its backoff and its cause once a frame has arrived', async () => {
    const { asked, follow, statuses } = stage(down, down, down, saying(frame(1), 'end'), saying(frame(2)))
    assert.deepEqual(await seqsUntil(2, follow({ after: 0 })), [1, 2])
    const [, , , third = 0, fourth = 0] = asked.map(([, atMs]) => atMs)
    assert.equal(fourth - third, 500)
    const connected = statuses.filter(({ state }) => state === 'catching-up' || state === 'live')
    assert.ok(
      connected.length > 0 && connected.every(({ cause, inMs }) => cause === undefined && inMs === undefined),
    )
  })

  test('filters events itself, so that it can detect gaps', async () => {
    const text = frame(1) + frame(2, 'payout', '0.000000000') + frame(3, 'payout', '1.000000000')
    const { asked, follow } = stage(saying(text))
    assert.deepEqual(await seqsUntil(3, follow({ after: 0, type: ['payout'], nonzero: true })), [3])
    assert.deepEqual(asked, [['/stream?after=0', 0]])
  })

  test('may let the service filter: then positions move its cursor', async () => {
    const text = position(0, 900) + frame(7, 'payout') + position(800, 900)
    const { asked, follow } = stage(saying(text, 'end'), saying(frame(850, 'payout')))
    const asking: StreamAsked = { after: 0, type: ['payout'], serverFilter: true }
    assert.deepEqual(await seqsUntil(850, follow(asking)), [7, 850])
    assert.deepEqual(
      asked.map(([path]) => path),
      ['/stream?after=0&type=payout', '/stream?after=800&type=payout'],
    )
  })

  test('throws when a parameter is refused', async () => {
    const { follow, states } = stage(json({ code: 'invalid-parameter' }, 400))
    await assert.rejects(seqsUntil(1, follow({ after: 0 })), { code: 'invalid-parameter', status: 400 })
    assert.deepEqual(states(), ['failed'])
  })

  test('gives a lagging node time to catch up, then throws that its cursor is ahead', async () => {
    const ahead = json({ code: 'cursor-ahead' }, 400)
    const { follow } = stage(ahead, ahead, saying(frame(10)))
    assert.deepEqual(await seqsUntil(10, follow({ after: 9 })), [10])
    const often = Array.from({ length: 4 }, (_, seq) => [ahead, ahead, saying(frame(seq + 1), 'end')]).flat()
    assert.deepEqual(await seqsUntil(4, stage(...often).follow({ after: 0 })), [1, 2, 3, 4])
    const never = stage(...Array.from({ length: 6 }, () => ahead))
    await assert.rejects(seqsUntil(10, never.follow({ after: 9 })), { code: 'cursor-ahead' })
  })

  test('throws when the service changes its log', async () => {
    const { follow, open } = stage(saying(frame(1), 'end'), saying(frame(2), 'silence', 'b'))
    await assert.rejects(seqsUntil(2, follow({ after: 0 })), { code: 'another-log' })
    assert.equal(open(), 0)
  })

  test('throws at a wrong address, and outlasts foreign answers at a known one', async () => {
    const page: Reply = () => new Response('<html>', { headers: { 'content-type': 'text/html' } })
    const wrong = stage(page)
    await assert.rejects(seqsUntil(1, wrong.follow({ after: 0 })), { code: 'unexpected-answer' })
    const portal = stage(saying(frame(1), 'end'), page, saying(frame(2)))
    assert.deepEqual(await seqsUntil(2, portal.follow({ after: 0 })), [1, 2])
  })

  test('ends with the reason of its signal in every state', async () => {
    for (const replies of [[saying(frame(1))], [saying(frame(1), 'end'), down, down, down, down]]) {
      const stop = new AbortController()
      const { follow, states, open } = stage(...replies)
      const events = follow({ after: 0, signal: stop.signal })
      const work = (async () => {
        for await (const { seq } of events) if (seq === 1) setImmediate(() => stop.abort())
      })()
      await assert.rejects(work, { name: 'AbortError' })
      assert.equal(states().at(-1), 'ended')
      assert.equal(open(), 0)
    }
  })

  test('yields events that arrived together as one batch', async () => {
    const { daybook } = stage(saying(frame(1) + frame(2) + frame(3)))
    for await (const events of daybook.stream({ after: 0 }).batches()) {
      assert.deepEqual(
        events.map(({ seq }) => seq),
        [1, 2, 3],
      )
      break
    }
  })
})
