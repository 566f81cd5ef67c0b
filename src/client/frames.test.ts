import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openFrames, type StreamFrame } from './frames.ts'
import { LINE_CHARS_MAX, streamLines } from './lines.ts'

/** Frames of a body that arrives in pieces. */
async function framesOf(...pieces: readonly string[]): Promise<readonly StreamFrame[]> {
  const parse = openFrames()
  const encoder = new TextEncoder()
  const body = ReadableStream.from(pieces.map((piece) => encoder.encode(piece)))
  const frames: StreamFrame[] = []
  for await (const lines of streamLines(body)) frames.push(...lines.flatMap((line) => parse(line) ?? []))
  return frames
}

const event = (seq: number): StreamFrame => JSON.parse(`{"event":{"seq":${seq}}}`)
const position = (seq: number): StreamFrame => JSON.parse(`{"position":{"seq":${seq},"head":9}}`)

const details = (seq: number): StreamFrame => ({ details: { seq, details: { count: 2 } } })

const TEXT =
  'retry: 4133\n\nevent: details\ndata: {"seq":5,"details":{"count":2}}\n\nevent: position\nid: 6\ndata: {"seq":6,"head":9}\n\nid: 7\ndata: {"seq":7}\n\n: comment\n\ndata:{"seq":8}\n\n'
const FRAMES = [{ retryMs: 4133 }, details(5), position(6), event(7), event(8)]

suite('the frames of a stream', () => {
  test('are events, their details, positions and the wait before a reconnection', async () => {
    assert.deepEqual(await framesOf(TEXT), FRAMES)
  })

  for (const [name, end] of [
    ['line feeds', '\n'],
    ['carriage returns', '\r'],
    ['both', '\r\n'],
  ] as const) {
    test(`are the same however they are split into pieces, with ${name}`, async () => {
      const text = TEXT.replaceAll('\n', end)
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 8 }), async (cuts) => {
          const at = [0, ...cuts.toSorted((a, b) => a - b), text.length]
          const pieces = at.slice(1).map((cut, index) => text.slice(at[index], cut))
          // A final carriage return may be half of a line end, so a comment follows.
          assert.deepEqual(await framesOf(...pieces, ': the end\n'), FRAMES)
        }),
      )
    })
  }

  test('are ignored while they are incomplete', async () => {
    assert.deepEqual(await framesOf('id: 7\ndata: {"seq":7}\n'), [])
    assert.deepEqual(await framesOf('id: 7\ndata: {"seq":7}'), [])
  })

  test('join lines of data, and ignore unknown fields and types', async () => {
    assert.deepEqual(await framesOf('data: {"seq"\ndata: :7}\n\n'), [event(7)])
    assert.deepEqual(await framesOf('event: news\ndata: x\n\nevent: message\ndata: {"seq":1}\n\n'), [
      event(1),
    ])
    assert.deepEqual(await framesOf('id\n\nnonsense\n\ndata\n\nretry: soon\n\n'), [])
  })

  test('set a wait of at most a minute', async () => {
    assert.deepEqual(await framesOf('retry: 999999999\n'), [{ retryMs: 60_000 }])
  })

  for (const data of ['{"seq":', 'null', '7', '{}', '{"seq":"7"}', '{"seq":1.5}', '[]']) {
    test(`are refused with the data ${data}`, async () => {
      await assert.rejects(framesOf(`data: ${data}\n\n`), { code: 'unexpected-answer' })
    })
  }

  for (const data of ['{"seq":7}', '{"seq":7,"head":"7"}', '{"seq":7,"head":1e300}']) {
    test(`are refused when they are a position with the data ${data}`, async () => {
      await assert.rejects(framesOf(`event: position\ndata: ${data}\n\n`), { code: 'unexpected-answer' })
    })
  }

  test('have a limit of length over all their lines', async () => {
    const line = `data: ${'x'.repeat(1_000)}\n`
    await assert.rejects(framesOf(line.repeat(100)), { code: 'unexpected-answer' })
  })

  test('have a limit of length for each line', async () => {
    const longest = 'x'.repeat(LINE_CHARS_MAX)
    assert.deepEqual(await framesOf(longest), [])
    await assert.rejects(framesOf(longest, 'x'), { code: 'too-large' })
  })
})
