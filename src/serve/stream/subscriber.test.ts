import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { suite, test } from 'node:test'
import { openStage, type Stage } from '../../../test/stage/stream-stage.ts'
import { msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { openFeedPages } from './feed-pages.ts'
import { STREAM_LIMITS } from './limits.ts'
import {
  isDue,
  openSubscriber,
  type StreamContext,
  type StreamEnded,
  type Subscriber,
  takeTurn,
} from './subscriber.ts'

const MINUTE_MS = 60_000
const ALL = { types: null, kinds: null, contestIds: null, nonzero: false }

/** A socket whose other end takes bytes at once, or keeps them waiting until `take` is called. */
function openSocket(): Readonly<{ socket: Socket; written: string[]; stall(): void; take(): void }> {
  const socket = new Socket()
  const written: string[] = []
  const waiting: (() => void)[] = []
  let stalled = false
  const accept = (text: string, done: () => void): void => {
    if (text !== '') written.push(text)
    if (stalled) waiting.push(done)
    else done()
  }
  socket._write = (bytes, _encoding, done) => accept(String(bytes), done)
  socket._writev = (parts, done) => accept(parts.map(({ chunk }) => String(chunk)).join(''), done)
  return {
    socket,
    written,
    stall: () => void (stalled = true),
    take() {
      stalled = false
      for (const done of waiting.splice(0)) done()
    },
  }
}

type Opened = Readonly<{
  subscriber: Subscriber
  counts: StreamContext['counts']
  ended: StreamEnded[]
  /** Subscribers that asked for a turn since the last look. */
  queued: Subscriber[]
  /** Frames that were written since the last look. */
  look(): string
  /** Whether a turn is due at this moment. */
  due(ms: number): boolean
  turn(ms: number): void
}> &
  ReturnType<typeof openSocket>

/** Opens a stream on a log of five events at the moment 0, by a clock that the caller sets. */
async function open(
  stage: Stage,
  {
    after = 5,
    random = 0.5,
    chunked = false,
  }: Readonly<{ after?: number; random?: number; chunked?: boolean }> = {},
): Promise<Opened> {
  if (stage.head() === 0) stage.publish(5)
  const line = openSocket()
  const response = new ServerResponse(new IncomingMessage(line.socket))
  response.assignSocket(line.socket)
  response.useChunkedEncodingByDefault = false
  response.writeHead(200)
  let nowMs = 0
  const ended: StreamEnded[] = []
  const queued: Subscriber[] = []
  const context: StreamContext = {
    reader: stage.reader,
    limits: STREAM_LIMITS,
    head: () => stage.reader.head().seq,
    now: () => msOf(nowMs),
    monotonicMs: () => nowMs,
    random: () => random,
    counts: {
      clients: 0,
      opened: 0,
      closed: { client: 0, lifetime: 0, slow: 0, drain: 0, error: 0, behind: 0 },
      eventsSent: 0,
      bytesSent: 0,
    },
    endReason: () => 'lifetime',
    queue: (subscriber) => queued.push(subscriber),
    ended: (one) => ended.push(one),
    gone: () => undefined,
  }
  const subscriber = openSubscriber(context, {
    response,
    socket: line.socket,
    chunked,
    feed: openFeedPages(stage.reader, STREAM_LIMITS).feed(ALL, 'sse', false),
    slot: { release: () => undefined },
    after: seqOf(after),
  })
  const opened: Opened = {
    ...line,
    subscriber,
    counts: context.counts,
    ended,
    queued,
    look: () => line.written.splice(0).join(''),
    due: (ms) => isDue(subscriber, ms, stage.reader.head().seq, STREAM_LIMITS),
    turn(ms) {
      nowMs = ms
      takeTurn(context, subscriber, ms)
    },
  }
  // The first frame is accepted in a later turn of the event loop.
  await new Promise(setImmediate)
  return opened
}

/** Asserts that nothing is due one millisecond before a moment, and that a turn that comes then all the same does nothing. */
function assertQuietUntil(stream: Opened, ms: number): void {
  stream.look()
  assert.equal(stream.due(ms - 1), false, `nothing is due at ${ms - 1}`)
  stream.turn(ms - 1)
  assert.deepEqual([stream.look(), stream.socket.destroyed], ['', false], `nothing happens at ${ms - 1}`)
  assert.equal(stream.due(ms), true, `a turn is due at ${ms}`)
}

const positionOf = (seq: number, live: boolean): RegExp =>
  new RegExp(`event: position\nid: ${seq}\ndata: \\{"seq":${seq},"head":5,"live":${live},.*\\}\n\n$`)

suite('an open stream', () => {
  test('has a retry time from 3,000 to 8,000 ms, both included', async () => {
    await using stage = await openStage()
    for (const [random, retry] of [
      [0, 3_000],
      [0.5, 5_500],
      [1 - 1e-9, 8_000],
    ] as const) {
      const stream = await open(stage, { random })
      assert.match(stream.look(), new RegExp(`\nretry: ${retry}\n\nevent: position\n`))
      stream.socket.destroy()
    }
  })

  test('has a position after 15 s of silence, and again after 15 more', async () => {
    await using stage = await openStage()
    const stream = await open(stage)
    for (const ms of [15_000, 30_000]) {
      assertQuietUntil(stream, ms)
      stream.turn(ms)
      assert.match(stream.look(), positionOf(5, true))
    }
    stream.socket.destroy()
  })

  test('is cut when its client takes nothing for 30 s', async () => {
    await using stage = await openStage()
    const stream = await open(stage, { after: 0 })
    stream.stall()
    stream.turn(1_000)
    assert.match(stream.look(), /id: 5\n/)
    assertQuietUntil(stream, 31_000)
    stream.turn(31_000)
    assert.deepEqual([stream.look(), stream.socket.destroyed], ['', true])
    assert.deepEqual(stream.ended, [{ why: 'slow', seq: 5 }])
  })

  test('goes on when its client takes the bytes in time', async () => {
    await using stage = await openStage()
    const stream = await open(stage, { after: 0 })
    stream.stall()
    stream.turn(1_000)
    stream.queued.length = 0
    stream.look()
    stream.take()
    await new Promise(setImmediate)
    assert.deepEqual(stream.queued, [stream.subscriber], 'it asks for a turn as soon as they are taken')
    stream.turn(30_999)
    assert.match(stream.look(), positionOf(5, true))
    assert.equal(stream.subscriber.blockedSince, null)
    stream.socket.destroy()
  })

  for (const [random, lifetimeMs] of [
    [0, 24 * MINUTE_MS],
    [0.5, 30 * MINUTE_MS],
    [0.25, 27 * MINUTE_MS],
  ] as const) {
    test(`ends after ${lifetimeMs / MINUTE_MS} minutes with a position, when its lifetime is drawn as ${random}`, async () => {
      await using stage = await openStage()
      const stream = await open(stage, { random })
      stream.turn(lifetimeMs - 1_000)
      assertQuietUntil(stream, lifetimeMs)
      stream.turn(lifetimeMs)
      assert.match(stream.look(), positionOf(5, true))
      assert.deepEqual(stream.ended, [{ why: 'lifetime', seq: 5 }])
      stream.socket.destroy()
    })
  }

  test('that is over is closed at once while its client has not taken the last bytes', async () => {
    await using stage = await openStage()
    const stream = await open(stage, { after: 0 })
    stream.stall()
    stream.turn(30 * MINUTE_MS - 1_000)
    assertQuietUntil(stream, 30 * MINUTE_MS)
    stream.turn(30 * MINUTE_MS)
    assert.deepEqual([stream.look(), stream.socket.destroyed], ['', true])
    assert.deepEqual(stream.ended, [{ why: 'lifetime', seq: 0 }])
  })

  test('gives its client one second for the last frame, and then closes the connection', async () => {
    await using stage = await openStage()
    const stream = await open(stage)
    stream.stall()
    stream.turn(31 * MINUTE_MS)
    assert.deepEqual([stream.ended.length, stream.socket.destroyed], [1, false])
    assertQuietUntil(stream, 31 * MINUTE_MS + 1_000)
    stream.turn(31 * MINUTE_MS + 1_000)
    assert.equal(stream.socket.destroyed, true)
    assert.equal(stream.ended.length, 1, 'it ends once')
  })

  test('whose cursor is ahead waits a minute for the head, with positions, and ends with one', async () => {
    await using stage = await openStage()
    const stream = await open(stage, { after: 9 })
    assert.match(stream.look(), positionOf(9, false))
    for (const ms of [15_000, 30_000, 45_000]) stream.turn(ms)
    stream.turn(59_000)
    stream.look()
    assertQuietUntil(stream, 60_000)
    stream.turn(60_000)
    assert.match(stream.look(), positionOf(9, false))
    assert.deepEqual(stream.ended, [{ why: 'behind', seq: 9 }])
    stream.socket.destroy()
  })

  test('is closed by the client that sends more than 4 KiB after its request', async () => {
    await using stage = await openStage()
    const stream = await open(stage)
    for (const bytes of [4_000, 96]) stream.socket.emit('data', Buffer.alloc(bytes))
    assert.deepEqual([stream.socket.destroyed, stream.ended], [false, []])
    stream.socket.emit('data', Buffer.alloc(1))
    assert.deepEqual([stream.socket.destroyed, stream.ended], [true, [{ why: 'client', seq: 5 }]])
  })

  test('counts its events and its bytes, and not the empty write that waits for the client', async () => {
    for (const chunked of [true, false]) {
      await using stage = await openStage()
      const stream = await open(stage, { after: 2, chunked })
      stream.look()
      stream.stall()
      stream.turn(1)
      const text = stream.look()
      assert.equal(/^[0-9a-f]+\r\n/.test(text), chunked)
      const { eventsSent, bytesSent, opened, clients } = stream.counts
      assert.deepEqual([eventsSent, bytesSent, opened, clients], [3, text.length, 1, 1])
      stream.socket.destroy()
      await new Promise(setImmediate)
      assert.deepEqual([stream.counts.clients, stream.counts.closed.client], [0, 1])
    }
  })

  test('asks for no second turn when its client took all bytes and nothing is left', async () => {
    await using stage = await openStage()
    const stream = await open(stage, { after: 0 })
    assert.deepEqual(stream.queued, [stream.subscriber], 'its first bytes are taken, and events wait')
    stream.turn(1)
    assert.deepEqual(
      stream.queued.splice(0),
      [stream.subscriber, stream.subscriber],
      'the switch to live waits',
    )
    stream.turn(2)
    await new Promise(setImmediate)
    assert.deepEqual([stream.queued, stream.subscriber.blockedSince], [[], null])
    stream.socket.destroy()
  })
})
