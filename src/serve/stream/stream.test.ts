import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openClient, until } from '../../../test/stage/stream-client.ts'
import { openStage } from '../../../test/stage/stream-stage.ts'

/** Pause that is longer than the delay of an event on a busy machine. */
const COALESCE_MS = 3_000

/** The integers from `from` to `to`, both inclusive. */
const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)

suite('a stream', () => {
  test('begins with status, headers, retry time and a position', async () => {
    await using stage = await openStage({ random: () => 0 })
    stage.publish(3)
    using client = await openClient(stage.port)
    await client.until(() => client.positions().length === 1)
    assert.match(client.head(), /^HTTP\/1\.1 200 OK\r\n/)
    for (const header of [
      'content-type: text/event-stream; charset=utf-8',
      'cache-control: no-store, no-transform',
      'x-accel-buffering: no',
      'connection: close',
      'access-control-allow-origin: *',
      `daybook-log: ${stage.reader.identity.id}`,
    ]) {
      assert.ok(client.head().toLowerCase().includes(`\r\n${header}`), header)
    }
    assert.doesNotMatch(client.head(), /\r\n(?:content-encoding|etag|content-length):/i)
    assert.equal(
      client.body(),
      'retry: 3000\n\nevent: position\nid: 3\ndata: {"seq":3,"head":3,"live":true,"at":"2026-10-01T00:00:00.000Z","atMs":1790812800000}\n\n',
    )
  })

  test('shows an event as its id and its exact line', async () => {
    await using stage = await openStage()
    stage.publish(1)
    using client = await openClient(stage.port, { path: '?after=0' })
    await client.until(() => client.events().length === 1)
    assert.ok(client.body().includes(`id: 1\ndata: ${stage.line(1)}\n\n`))
  })

  test('resumed after any seq sends exactly the rest', async () => {
    await using stage = await openStage()
    stage.publish(200)
    stage.publish(1)
    stage.publish(170)
    for (const after of [0, 1, 2, 41, 158, 159, 160, 161, 198, 199, 200, 201, 202, 320, 369, 370, 371]) {
      using client = await openClient(stage.port, { path: `?after=${after}` })
      await client.until(() => client.positions().some((position) => position.live))
      assert.deepEqual(client.seqs(), range(after + 1, 371), `after ${after}`)
      assert.deepEqual(client.positions()[0]?.seq, after)
    }
  })

  test('goes from history to live without a gap or a repetition while events are published', async () => {
    await using stage = await openStage()
    stage.publish(2_000)
    const clients = await Promise.all(
      range(0, 9).map((index) => openClient(stage.port, { path: `?after=${index * 190}` })),
    )
    for (const batch of range(1, 100)) {
      stage.publish(batch % 7)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const head = stage.head()
    for (const [index, client] of clients.entries()) {
      await client.until(() => client.seqs().at(-1) === head)
      assert.deepEqual(client.seqs(), range(index * 190 + 1, head))
      assert.deepEqual(client.events(), range(index * 190 + 1, head).map(stage.line))
      const positions = client.positions()
      assert.equal(positions[0]?.live, false)
      assert.equal(positions.filter((position) => position.live).length, 1, 'one switch')
      client[Symbol.dispose]()
    }
  })

  test('without a cursor is live from the head', async () => {
    await using stage = await openStage()
    stage.publish(50)
    using client = await openClient(stage.port)
    await client.until(() => client.positions().length === 1)
    stage.publish(2)
    await client.until(() => client.seqs().length === 2)
    assert.deepEqual(client.seqs(), [51, 52])
    assert.equal(client.positions().length, 1, 'it was live from the start')
  })

  test('prefers Last-Event-ID to after', async () => {
    await using stage = await openStage()
    stage.publish(12)
    using client = await openClient(stage.port, { path: '?after=5', headers: ['Last-Event-ID: 9'] })
    await client.until(() => client.seqs().length === 3)
    assert.deepEqual(client.seqs(), [10, 11, 12])
  })

  test('of an empty log waits for its first event', async () => {
    await using stage = await openStage()
    using client = await openClient(stage.port, { path: '?after=0' })
    await client.until(() => client.positions().length === 1)
    assert.deepEqual(
      client.positions().map(({ seq, head, live }) => ({ seq, head, live })),
      [{ seq: 0, head: 0, live: true }],
    )
    stage.publish(1)
    await client.until(() => client.seqs().length === 1)
  })

  test('in JSON lines has the same events and positions', async () => {
    await using stage = await openStage()
    stage.publish(400)
    using client = await openClient(stage.port, {
      path: '?after=10',
      headers: ['Accept: application/x-ndjson'],
    })
    await client.until(() => client.positions().length === 2)
    assert.match(client.head(), /content-type: application\/x-ndjson; charset=utf-8/i)
    assert.deepEqual(client.events(), range(11, 400).map(stage.line))
    assert.deepEqual(
      client.positions().map(({ seq, live }) => ({ seq, live })),
      [
        { seq: 10, live: false },
        { seq: 400, live: true },
      ],
    )
    assert.ok(client.body().startsWith('{"position":{"seq":10,'))
  })

  for (const [path, matches] of [
    ['type=price', (seq: number) => seq % 10 === 0],
    ['type=trade&kind=sell', (seq: number) => seq % 10 > 1 && seq % 2 === 1],
    ['contestId=41', (seq: number) => seq === 41],
    ['nonzero=1', (seq: number) => seq % 10 > 1],
    ['type=contest,price', (seq: number) => seq % 10 <= 1],
    ['kind=none', () => false],
  ] as const) {
    test(`filtered by ${path} shows the matches, and positions between them`, async () => {
      await using stage = await openStage()
      stage.publish(2_345)
      using client = await openClient(stage.port, { path: `?after=0&${path}` })
      await client.until(() => client.positions().some((position) => position.live))
      stage.publish(25)
      stage.publish(1_130)
      const expected = range(1, 3_500).filter(matches)
      await client.until(() => client.seqs().length === expected.length)
      assert.deepEqual(client.seqs(), expected)
      await until(() => stage.streams.behind() === 0)
      assertPositions(client.messages(), stage.head())
    })
  }

  test('with a filter sends a position after every 1,000 events without a match', async () => {
    await using stage = await openStage()
    stage.publish(3_500)
    using client = await openClient(stage.port, { path: '?after=0&contestId=1501' })
    await client.until(() => client.positions().some((position) => position.live))
    const story = client
      .messages()
      .flatMap(({ id, event }) => (id === undefined ? [] : [`${event ?? 'event'} ${id}`]))
    assert.deepEqual(story, ['position 0', 'position 1000', 'event 1501', 'position 2501', 'position 3500'])
  })

  test('gets a single event at once, and the events of the pause after it in one write', async () => {
    await using stage = await openStage({ limits: { coalesceMs: COALESCE_MS, tickMs: 10_000 } })
    using client = await openClient(stage.port)
    await client.until(() => client.positions().length === 1)
    const published = performance.now()
    stage.publish(1)
    await client.until(() => client.seqs().length === 1)
    assert.ok(performance.now() - published < COALESCE_MS, 'idle streams do not wait')
    for (let count = 0; count < 3; count += 1) {
      stage.publish(1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await client.until(() => client.seqs().length === 4)
    const chunks = client.text().matchAll(/\r\n[0-9a-f]+\r\n((?:id: \d+\ndata: [^\n]*\n\n)+)/g)
    const seqsOfChunks = [...chunks].map(([, frames = '']) => frames.match(/(?<=id: )\d+/g)?.map(Number))
    assert.deepEqual(seqsOfChunks, [[1], [2, 3, 4]])
  })

  test('without events sends positions as heartbeats', async () => {
    await using stage = await openStage({ limits: { heartbeatMs: 30 } })
    stage.publish(5)
    using idle = await openClient(stage.port)
    using filtered = await openClient(stage.port, { path: '?kind=none' })
    await idle.until(() => idle.positions().length >= 3 && filtered.positions().length >= 3)
    stage.publish(2)
    await filtered.until(() => filtered.positions().at(-1)?.seq === 7)
    assert.deepEqual(idle.seqs(), [6, 7])
  })
})

/** Asserts that the ids never go back, never pass the head, and leave no more than 1,000 events without a message. */
function assertPositions(
  messages: readonly Readonly<{ id?: string; event?: string; data?: string }>[],
  head: number,
): void {
  let last = 0
  for (const message of messages) {
    if (message.id === undefined) continue
    const seq = Number(message.id)
    assert.ok(seq >= last && seq <= head, `${seq} follows ${last}`)
    assert.ok(seq - last <= 1_000, `${seq} is more than 1,000 events after ${last}`)
    if (message.event === 'position') {
      const position = JSON.parse(message.data ?? '')
      assert.ok(position.seq <= position.head)
    } else assert.ok(seq > last, 'an event is new')
    last = seq
  }
}
