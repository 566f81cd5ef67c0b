import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openStage } from '../../../test/stage/stream-stage.ts'
import type { LogFilter } from '../../log/store/reader.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { streamLimits } from './limits.ts'
import { openFeedPages } from './feed-pages.ts'

const ALL: LogFilter = { types: null, kinds: null, contestIds: null, nonzero: false }
const NONE: LogFilter = { ...ALL, kinds: ['none'] }

suite('a page of the stream', () => {
  test('is made once for all subscribers with one filter and cursor', async () => {
    await using stage = await openStage()
    stage.publish(300)
    const pages = openFeedPages(stage.reader, streamLimits())
    const [one, two] = [pages.feed(ALL, 'sse', false), pages.feed({ ...ALL }, 'sse', false)]
    assert.equal(one.page(seqOf(0), 1_000), two.page(seqOf(0), 1_000))
    const lines = pages.feed(ALL, 'ndjson', false)
    assert.notEqual(lines.page(seqOf(0), 1_000).packet, one.page(seqOf(0), 1_000).packet)
    assert.deepEqual(one.page(seqOf(160), 1_000).scannedTo, 300)
    assert.equal(one.page(seqOf(160), 140), two.page(seqOf(160), 140))
  })

  test('is dropped with the last subscriber of its feed', async () => {
    await using stage = await openStage()
    stage.publish(10)
    const pages = openFeedPages(stage.reader, streamLimits())
    const [one, two] = [pages.feed(ALL, 'sse', false), pages.feed(ALL, 'sse', false)]
    one.page(seqOf(0), 1_000)
    one.close()
    assert.ok(pages.cachedBytes() > 0)
    two.close()
    assert.equal(pages.cachedBytes(), 0)
  })

  test('is cached only near the head, within the size of the cache', async () => {
    await using stage = await openStage()
    stage.publish(3_000)
    const limits = streamLimits({ cachedLagEventsMax: 1_000, cachedBytesMax: 100_000 })
    const pages = openFeedPages(stage.reader, limits)
    const feed = pages.feed(ALL, 'sse', false)
    feed.page(seqOf(1_000), 1_000)
    assert.equal(pages.cachedBytes(), 0)
    for (let after = 2_000; after < 3_000; after += 10) {
      feed.page(seqOf(after), 1_000)
      assert.ok(pages.cachedBytes() <= 100_000)
    }
    assert.ok(pages.cachedBytes() > 0)
    feed.close()
    assert.equal(pages.cachedBytes(), 0)
  })

  test('fits one write with its chunked coding, or the limits are refused', () => {
    const [pageEventsMax, frameBytesMax] = [200, 400]
    const writeBytesMax = pageEventsMax * frameBytesMax + '13880\r\n\r\n'.length
    assert.throws(() => streamLimits({ pageEventsMax, frameBytesMax, writeBytesMax }), /more than one write/)
    assert.ok(streamLimits({ pageEventsMax, frameBytesMax, writeBytesMax: writeBytesMax + 3 }))
  })

  test('never scans past the seq at which a position is due', async () => {
    await using stage = await openStage()
    stage.publish(900)
    const pages = openFeedPages(stage.reader, streamLimits())
    const feed = pages.feed(NONE, 'sse', false)
    assert.equal(feed.page(seqOf(0), 1_000).scannedTo, 900)
    assert.equal(feed.page(seqOf(0), 400).scannedTo, 400)
    const { packet, count, unmatched, clearTo } = feed.page(seqOf(0), 1_000)
    assert.deepEqual(
      { packet, count, unmatched, clearTo },
      { packet: null, count: 0, unmatched: 900, clearTo: 900 },
    )
  })

  test('without a match says how far an index excludes further ones', async () => {
    await using stage = await openStage()
    stage.publish(5_000)
    const pages = openFeedPages(stage.reader, streamLimits())
    for (const [filter, after, scannedTo, clearTo] of [
      [{ contestIds: [contestIdOf(4_001)] }, 0, 1_000, 4_000],
      [{ contestIds: [contestIdOf(4_001)] }, 4_001, 5_000, 5_000],
      [{ kinds: ['none'] }, 0, 1_000, 5_000],
      [{ types: ['payout', 'burn'], nonzero: true }, 1_500, 2_500, 5_000],
      // `nonzero` alone has no index.
      [{ nonzero: true, types: null }, 9, 10, 10],
    ] as const) {
      const scanMax = scannedTo - after
      const page = pages.feed({ ...ALL, ...filter }, 'sse', false).page(seqOf(after), scanMax)
      assert.deepEqual([page.packet, page.scannedTo, page.clearTo], [null, scannedTo, clearTo])
    }
  })
})
