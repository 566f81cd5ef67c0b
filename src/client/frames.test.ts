import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { StreamFrame } from './frames.ts'
import { openFrames } from './frames.ts'
import { LINE_CHARS_MAX, openLines } from './lines.ts'

/** What comes of a text that arrives in pieces. */
function framesOf(...pieces: readonly string[]): readonly StreamFrame[] {
  const lines = openLines()
  const parse = openFrames()
  return pieces.flatMap((piece) => lines(piece).flatMap((line) => parse(line) ?? []))
}

const event = (seq: number): StreamFrame => JSON.parse(`{"event":{"seq":${seq}}}`)
const position = (seq: number): StreamFrame => JSON.parse(`{"position":{"seq":${seq}}}`)

const TEXT =
  'retry: 4133\n\nevent: position\nid: 6\ndata: {"seq":6}\n\nid: 7\ndata: {"seq":7}\n\n: comment\n\ndata:{"seq":8}\n\n'
const FRAMES = [{ retryMs: 4133 }, position(6), event(7), event(8)]

suite('the frames of a stream', () => {
  test('are events, positions and the wait before a retry', () => {
    assert.deepEqual(framesOf(TEXT), FRAMES)
  })

  for (const [name, end] of [
    ['line feeds', '\n'],
    ['carriage returns', '\r'],
    ['both', '\r\n'],
  ] as const) {
    test(`are the same wherever the pieces of them end, with ${name}`, () => {
      const text = TEXT.replaceAll('\n', end)
      fc.assert(
        fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
          const at = [0, ...cuts.toSorted((a, b) => a - b), text.length]
          const pieces = at.slice(1).map((cut, index) => text.slice(at[index], cut))
          // A line end of one character at the very end may be half of one.
          assert.deepEqual(framesOf(...pieces, ': the end\n'), FRAMES)
        }),
      )
    })
  }

  test('do not count before they are whole', () => {
    assert.deepEqual(framesOf('id: 7\ndata: {"seq":7}\n'), [])
    assert.deepEqual(framesOf('id: 7\ndata: {"seq":7}'), [])
  })

  test('join lines of data, and leave out what nobody here knows', () => {
    assert.deepEqual(framesOf('data: {"seq"\ndata: :7}\n\n'), [event(7)])
    assert.deepEqual(framesOf('event: news\ndata: x\n\nevent: message\ndata: {"seq":1}\n\n'), [event(1)])
    assert.deepEqual(framesOf('id\n\nnonsense\n\ndata\n\nretry: soon\n\n'), [])
  })

  test('bound the wait that they ask for', () => {
    assert.deepEqual(framesOf('retry: 999999999\n'), [{ retryMs: 60_000 }])
  })

  for (const data of ['{"seq":', 'null', '7', '{}', '{"seq":"7"}', '{"seq":1.5}', '[]']) {
    test(`are refused when they say ${data}`, () => {
      assert.throws(() => framesOf(`data: ${data}\n\n`), { code: 'unexpected-answer' })
    })
  }

  test('have a bound, however many lines they are', () => {
    const line = `data: ${'x'.repeat(1_000)}\n`
    assert.throws(() => framesOf(line.repeat(100)), { code: 'unexpected-answer' })
  })

  test('have lines with a bound', () => {
    const lines = openLines()
    lines('x'.repeat(LINE_CHARS_MAX))
    assert.throws(() => lines('x'), { code: 'too-large' })
  })
})
