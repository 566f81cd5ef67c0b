import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { SURROUNDINGS } from '../../src/client/surroundings.ts'
import { openStreamFeed } from '../../src/mirror/live/stream-feed.ts'
import { openOrigin } from '../../src/mirror/origin/open-origin.ts'
import { boundOf } from '../../src/protocol/moment.ts'
import { nextSeq, seqOf } from '../../src/protocol/seq.ts'

const AT_MS = Date.UTC(2026, 5, 1)
const AT = new Date(AT_MS).toISOString()
const PIECE_EVENTS = 500
/** Events that may wait for a checkpoint, and more than the client reads ahead of them. */
const UNPROVED_MAX = 20_000
const READ_AHEAD = 3_000

const frame = (seq: number): string =>
  `id: ${seq}\ndata: {"seq":${seq},"type":"trade","kind":"buy","at":"${AT}","atMs":${AT_MS},"contestId":null,"kots":"1.000000000","tx":null}\n\n`

/** The answer of an origin whose stream never ends. `sent` has the number of events that were read of it. */
function endlessStream(sent: { events: number }): Response {
  const position = `event: position\nid: 0\ndata: {"seq":0,"head":1000000,"live":false,"at":null,"atMs":null}\n\n`
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode(position)),
      pull(controller) {
        const frames = Array.from({ length: PIECE_EVENTS }, (_, index) => frame(sent.events + index + 1))
        sent.events += PIECE_EVENTS
        controller.enqueue(encoder.encode(frames.join('')))
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

suite('the stream of an origin', () => {
  test('is not read on while 20,000 of its events wait for a checkpoint', async () => {
    const sent = { events: 0 }
    const fetch = (): Promise<Response> => Promise.resolve(endlessStream(sent))
    const origin = openOrigin('http://origin.example', { ...SURROUNDINGS, fetch }, () => undefined)
    const stop = new AbortController()
    const feed = openStreamFeed(origin, { seq: nextSeq(seqOf(0)), notBefore: boundOf(0) }, stop.signal)
    const settled = async (): Promise<number> => {
      for (let before = -1; before !== sent.events;) {
        before = sent.events
        await feed.changed(200)
      }
      return sent.events
    }
    const first = await settled()
    assert.equal(feed.error(), null)
    assert.ok(first >= UNPROVED_MAX && first <= UNPROVED_MAX + READ_AHEAD, `${first} events`)
    assert.equal(feed.take(0, UNPROVED_MAX)?.length, UNPROVED_MAX)
    const second = await settled()
    assert.ok(second > first && second <= 2 * UNPROVED_MAX + READ_AHEAD, `${second} events`)
    await feed.close()
  })
})
