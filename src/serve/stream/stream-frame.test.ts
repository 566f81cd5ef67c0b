import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths } from '../../protocol/amount.ts'
import { formatEvent } from '../../protocol/event.ts'
import { MS_MAX, msOf } from '../../protocol/moment.ts'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { formatPosition, formatRetry, lastSeqIn, packetOf } from './stream-frame.ts'
import { STREAM_LIMITS, streamLimits } from './limits.ts'

const POSITION = { seq: seqOf(4), head: seqOf(9), live: false, atMs: msOf(1_790_812_800_123) }
const POSITION_JSON = '{"seq":4,"head":9,"live":false,"at":"2026-10-01T00:00:00.123Z","atMs":1790812800123}'

suite('a frame', () => {
  test('of a position is an event named position with the last seq scanned as its id', () => {
    assert.equal(formatPosition('sse', POSITION), `event: position\nid: 4\ndata: ${POSITION_JSON}\n\n`)
  })

  test('of a position in JSON lines is one line with one key', () => {
    assert.equal(formatPosition('ndjson', POSITION), `{"position":${POSITION_JSON}}\n`)
  })

  test('of a retry exists only in Server-Sent Events', () => {
    assert.equal(formatRetry('sse', 3000), 'retry: 3000\n\n')
    assert.equal(formatRetry('ndjson', 3000), '')
  })

  test('has the same bytes bare and as one chunk', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 5_000, size: 'max' }), (bytes) => {
        const { bare, chunk } = packetOf(bytes)
        assert.deepEqual(new Uint8Array(bare), new Uint8Array(bytes))
        const framed = Buffer.concat([
          Buffer.from(`${bytes.length.toString(16)}\r\n`),
          bytes,
          Buffer.from('\r\n'),
        ])
        assert.deepEqual(chunk, framed)
      }),
    )
  })

  test('tells the seq of its last event', () => {
    const lines = '{"seq":7,"type":"trade"}\n{"seq":12,"type":"trade"}\n'
    assert.equal(lastSeqIn(Buffer.from(lines)), 12)
    assert.equal(
      lastSeqIn(Buffer.from('id: 9007199254740991\ndata: {"seq":9007199254740991,"type"')),
      SEQ_MAX,
    )
    assert.equal(lastSeqIn(Buffer.from('')), undefined)
  })

  test('of the longest event is within its size limit', () => {
    const line = formatEvent({
      seq: seqOf(SEQ_MAX),
      type: 'correction',
      kind: 'k'.repeat(32),
      atMs: MS_MAX,
      contestId: contestIdOf(SEQ_MAX),
      kots: billionths(-(10n ** 27n - 1n)),
      tx: 't'.repeat(128),
    })
    const frame = `id: ${SEQ_MAX}\ndata: ${line}\n\n`
    assert.ok(frame.length <= STREAM_LIMITS.frameBytesMax, `${frame.length} bytes`)
    assert.ok(STREAM_LIMITS.writeBytesMax <= 65_536)
    streamLimits()
  })
})

suite('the limits of the stream', () => {
  for (const [changes, broken] of [
    [{ pageEventsMax: 200 }, 'a page larger than one write'],
    [{ scanEventsMax: 100 }, 'a scan shorter than a page'],
    [{ liveSliceMs: 20 }, 'slices that hold the event loop too long'],
    [{ retryMsMin: 9_000 }, 'a retry range that is reversed'],
    [{ lifetimeSpread: 1 }, 'a lifetime of zero'],
    [{ tickMs: 20_000 }, 'a tick longer than the heartbeat'],
  ] as const) {
    test(`refuse ${broken}`, () => assert.throws(() => streamLimits(changes), /invariant broken/))
  }
})
