import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openClient, type StreamClient, until } from '../../../test/stage/stream-client.ts'
import { openStage, type Stage } from '../../../test/stage/stream-stage.ts'

/** Reads a problem: its status, its code and the whole response. */
async function problemOf(
  client: StreamClient,
): Promise<Readonly<{ status: number; code: string; text: string }>> {
  await client.until(() => client.body().endsWith('}'))
  const document = JSON.parse(client.body())
  const status = Number(client.head().slice(9, 12))
  assert.equal(document.status, status)
  assert.match(client.head(), /content-type: application\/problem\+json/i)
  assert.match(client.head(), /cache-control: no-store/i)
  return { status, code: document.code, text: client.text() }
}

async function connected(stage: Stage, path = ''): Promise<StreamClient> {
  const client = await openClient(stage.port, { path })
  await client.until(() => client.positions().length > 0)
  return client
}

suite('a connection to the stream', () => {
  test('for a HEAD ends after the headers and holds no slot', async () => {
    await using stage = await openStage()
    const headers = ['Connection: close']
    using client = await openClient(stage.port, { method: 'HEAD', path: '?after=0', headers })
    await client.until(() => client.isClosed())
    assert.match(client.head(), /^HTTP\/1\.1 200 OK/)
    assert.match(client.head(), /content-type: text\/event-stream/i)
    assert.equal(client.body(), '')
    assert.equal(stage.streams.counts().opened, 0)
    using ahead = await openClient(stage.port, { method: 'HEAD', path: '?after=9', headers })
    await ahead.until(() => ahead.isClosed())
    assert.match(ahead.head(), /^HTTP\/1\.1 400 /)
  })

  test('in HTTP/1.0 carries the bytes without chunks until it closes', async () => {
    await using stage = await openStage()
    stage.publish(300)
    using client = await openClient(stage.port, { version: '1.0', path: '?after=0' })
    await client.until(() => client.positions().some(({ live }) => live))
    await stage.streams.drain(0)
    await client.until(() => client.isClosed())
    assert.doesNotMatch(client.head(), /transfer-encoding/i)
    assert.equal(client.events().length, 300)
    assert.match(client.body(), /^retry: 5500\n\nevent: position\n/)
    assert.ok(client.body().endsWith('}\n\n'))
  })

  test('opens no stream that is pipelined behind it', async () => {
    await using stage = await openStage()
    stage.publish(2)
    const behind = 'GET /api/v1/stream?after=0 HTTP/1.1\r\nHost: daybook.test\r\n\r\n'.repeat(3)
    using client = await openClient(stage.port, { path: '?after=0', behind })
    await client.until(() => client.positions().length === 2 && client.events().length === 2)
    stage.publish(1)
    await client.until(() => client.events().length === 3)
    assert.equal(stage.streams.counts().opened, 1)
  })

  test('neither runs nor counts a request that is pipelined behind it', async () => {
    await using stage = await openStage()
    stage.publish(2)
    const behind = 'GET /api/v1/elsewhere HTTP/1.1\r\nHost: daybook.test\r\n\r\n'.repeat(3)
    using client = await openClient(stage.port, { path: '?after=0', behind })
    await client.until(() => client.positions().length === 2 && client.events().length === 2)
    assert.equal(stage.requests(), 1)
  })

  test('is closed when the client sends more than a limit after its request', async () => {
    await using stage = await openStage({ limits: { trailingBytesMax: 1_000 } })
    using client = await connected(stage)
    client.socket.write('GET / HTTP/1.1\r\nX: '.padEnd(1_000, 'x'))
    using _later = await connected(stage)
    stage.publish(1)
    await client.until(() => client.events().length === 1)
    client.socket.write('x')
    await client.until(() => client.isClosed())
  })

  test('waits for an answer before it on the same connection', async () => {
    await using stage = await openStage()
    stage.publish(4)
    const behind = 'GET /api/v1/stream?after=1 HTTP/1.1\r\nHost: daybook.test\r\n\r\n'
    using client = await openClient(stage.port, { path: 'x', behind })
    await client.until(() => client.text().includes('id: 4\n'))
    assert.match(client.head(), /^HTTP\/1\.1 404 /)
    assert.equal(client.text().match(/HTTP\/1\.1 200 OK/g)?.length, 1)
  })

  for (const [kind, leave] of [
    ['closes its half of it', (client: StreamClient) => client.socket.end()],
    ['closes it', (client: StreamClient) => client.socket.destroy()],
    ['resets it', (client: StreamClient) => client.socket.resetAndDestroy()],
  ] as const) {
    test(`releases its slot at once when the client ${kind}`, async () => {
      await using stage = await openStage()
      using client = await connected(stage)
      assert.equal(stage.slotsTaken(), 1)
      leave(client)
      await until(() => stage.slotsTaken() === 0, 10_000)
      assert.equal(stage.streams.counts().closed.client, 1)
    })
  }

  test('releases its slot when the client closes its half with the request', async () => {
    await using stage = await openStage()
    using client = await openClient(stage.port)
    client.socket.end()
    await client.until(() => client.isClosed())
    await until(() => stage.slotsTaken() === 0)
  })

  test('releases its slot at once when a client that reads nothing closes its half', async () => {
    await using stage = await openStage({ events: 40_000 })
    using client = await openClient(stage.port, { path: '?after=0', paused: true })
    await until(() => stage.streams.heldBytes() > 0)
    client.socket.end()
    await until(() => stage.slotsTaken() === 0, 10_000)
  })

  test('ends after its lifetime with a position and the last chunk', async () => {
    await using stage = await openStage({ limits: { lifetimeMs: 2_500 } })
    stage.publish(7)
    using client = await openClient(stage.port, { path: '?after=2' })
    await client.until(() => client.isClosed())
    assert.ok(client.isWhole())
    assert.deepEqual(
      client.positions().map(({ seq, live }) => ({ seq, live })),
      [
        { seq: 2, live: false },
        { seq: 7, live: true },
        { seq: 7, live: true },
      ],
    )
    assert.equal(stage.streams.counts().closed.lifetime, 1)
  })

  test('has a lifetime and a retry time at random within their ranges', async () => {
    /** Milliseconds until a stream of 400 ms ends, and the retry time that it is told. */
    const lived = async (random: number): Promise<readonly [ms: number, told: string]> => {
      await using stage = await openStage({ limits: { lifetimeMs: 400 }, random: () => random })
      using client = await openClient(stage.port)
      const begun = performance.now()
      await client.until(() => client.isClosed())
      return [performance.now() - begun, client.body().split('\n', 1)[0] ?? '']
    }
    const [long, toldLong] = await lived(0.999)
    assert.ok(long >= 440, `${long} ms`)
    // A process that was stopped meanwhile tries again.
    let [short, toldShort] = await lived(0)
    for (let tries = 0; tries < 5 && short >= 400; tries += 1) [short, toldShort] = await lived(0)
    assert.ok(short < 400, `${short} ms`)
    assert.deepEqual([toldShort, toldLong], ['retry: 3000', 'retry: 7995'])
  })

  test('is refused with a problem before the first byte of a stream', async () => {
    await using stage = await openStage()
    stage.publish(5)
    for (const [path, headers, code] of [
      ['?after=6', [], 'cursor-ahead'],
      ['?after=2', ['Last-Event-ID: 6'], 'cursor-ahead'],
      ['?after=-1', [], 'invalid-parameter'],
      ['?after=9007199254740992', [], 'invalid-parameter'],
      ['?after=x', ['Last-Event-ID: 3'], 'invalid-parameter'],
      ['?after=1', ['Last-Event-ID: 1.0'], 'invalid-parameter'],
      ['', ['Last-Event-ID: 9007199254740992'], 'invalid-parameter'],
      ['', ['Last-Event-ID: 1', 'Last-Event-ID: 2'], 'invalid-parameter'],
      ['?type=none', [], 'invalid-parameter'],
      ['?nonzero=0', [], 'invalid-parameter'],
      ['?contestId=0', [], 'invalid-parameter'],
      ['?from=2999-01-01', [], 'in-the-future'],
      ['?after=1&from=2999-01-01', [], 'in-the-future'],
      ['?after=6&from=2026-01-01', [], 'cursor-ahead'],
      ['?from=2026-02-30', [], 'invalid-parameter'],
      ['?to=2026-10-01', [], 'unknown-parameter'],
      ['?after=1&after=2', [], 'repeated-parameter'],
    ] as const) {
      using client = await openClient(stage.port, { path, headers })
      const problem = await problemOf(client)
      assert.deepEqual([path, problem.status, problem.code], [path, 400, code])
      assert.doesNotMatch(problem.text, /Last-Event-ID: |9007199254740992/)
    }
    assert.equal(stage.streams.counts().opened, 0)
  })

  test('with from begins at the first event at or after it, or after `after` when that is later', async () => {
    await using stage = await openStage()
    stage.publish(5)
    const atMs = (seq: number): number => (JSON.parse(stage.line(seq)) as { atMs: number }).atMs
    for (const [query, headers, first] of [
      [`?from=${atMs(3)}`, [], 3],
      [`?from=${atMs(3) + 1}`, [], 4],
      [`?from=${atMs(3)}&after=1`, [], 3],
      [`?from=${atMs(3)}&after=3`, [], 4],
      ['?from=0', [], 1],
      [`?from=${atMs(1)}&after=1`, ['Last-Event-ID: 4'], 5],
      ['?from=2999-01-01', ['Last-Event-ID: 4'], 5],
    ] as const) {
      using client = await openClient(stage.port, { path: query, headers })
      await client.until(() => client.seqs().at(-1) === 5)
      assert.equal(client.seqs()[0], first, query)
    }
  })

  test('with a from between the head and the present is live from the head', async () => {
    await using stage = await openStage({ nowMs: 60_000 })
    stage.publish(2)
    const { atMs } = JSON.parse(stage.line(2)) as { atMs: number }
    using client = await openClient(stage.port, { path: `?from=${atMs + 1}` })
    await client.until(() => client.positions().length === 1)
    assert.deepEqual([client.positions()[0]?.seq, client.positions()[0]?.live], [2, true])
  })

  test('ignores an after that is ahead of the log when Last-Event-ID is within it', async () => {
    await using stage = await openStage()
    stage.publish(5)
    using client = await openClient(stage.port, { path: '?after=900', headers: ['Last-Event-ID: 4'] })
    await client.until(() => client.events().length === 1)
    assert.deepEqual(client.seqs(), [5])
  })

  test('is refused with 429 when its address has too many, with 503 and Retry-After when the node is full', async () => {
    await using stage = await openStage({ slotsPerCaller: 2, slotsPerNode: 100 })
    using first = await connected(stage)
    using second = await connected(stage)
    using third = await openClient(stage.port)
    assert.deepEqual((({ status, code }) => ({ status, code }))(await problemOf(third)), {
      status: 429,
      code: 'too-many-streams',
    })
    first.socket.destroy()
    await until(() => stage.slotsTaken() === 1)
    using fourth = await connected(stage)
    assert.equal(fourth.isClosed() || second.isClosed(), false)

    await using full = await openStage({ slotsPerNode: 1 })
    using only = await connected(full)
    using refused = await openClient(full.port)
    assert.equal((await problemOf(refused)).code, 'stream-capacity')
    assert.equal(only.isClosed(), false)
    assert.match(refused.head(), /^HTTP\/1\.1 503 [^]*\r\nretry-after: 30\r\n/i)
  })

  test('accepts a cursor that another thread has committed', async () => {
    await using stage = await openStage()
    stage.publishElsewhere(3)
    using client = await openClient(stage.port, { path: '?after=3' })
    await client.until(() => client.positions().length === 1)
    assert.equal(client.positions()[0]?.head, 3)
  })

  test('is closed when a read of the store fails, and the error is reported', async () => {
    let fails = false
    await using stage = await openStage({
      reader: (reader) => ({
        ...reader,
        snapshot: (ask) => {
          if (fails) throw new Error('the disk is gone')
          return reader.snapshot(ask)
        },
      }),
    })
    using client = await connected(stage)
    fails = true
    stage.publish(1)
    await client.until(() => client.isClosed())
    assert.equal(stage.reported.length, 1)
    assert.equal(stage.streams.counts().closed.error, 1)
  })
})

suite('a stopping node', () => {
  test('ends its streams one by one over the drain time, each with a position', async () => {
    await using stage = await openStage()
    stage.publish(9)
    const clients = await Promise.all(Array.from({ length: 10 }, () => connected(stage, '?after=0')))
    const ends: number[] = []
    const start = performance.now()
    for (const client of clients) client.socket.once('close', () => ends.push(performance.now() - start))
    await stage.streams.drain(2_600)
    await until(() => ends.length === 10)
    assert.ok((ends[9] ?? 0) - (ends[0] ?? 0) >= 200, `spread over ${ends.map(Math.round).join(' ')}`)
    for (const client of clients) {
      assert.ok(client.isWhole())
      assert.equal(client.positions().at(-1)?.seq, 9)
      assert.equal(client.seqs().length, 9)
    }
    using late = await openClient(stage.port)
    assert.equal((await problemOf(late)).code, 'not-ready')
    assert.deepEqual([stage.slotsTaken(), stage.streams.counts().closed.drain], [0, 10])
  })

  test('does not wait for a client that reads nothing', async () => {
    await using stage = await openStage({ events: 40_000 })
    using client = await openClient(stage.port, { path: '?after=0', paused: true })
    await until(() => stage.streams.counts().bytesSent > 100_000)
    await stage.streams.drain(100)
    assert.equal(stage.slotsTaken(), 0)
    assert.equal(client.isClosed(), false)
  })
})
