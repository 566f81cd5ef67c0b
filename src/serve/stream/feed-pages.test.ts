import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openStage } from '../../../test/stage/stream-stage.ts'
import type { LogFilter } from '../../log/store/reader.ts'
import { seqOf } from '../../protocol/seq.ts'
import { streamLimits } from './limits.ts'
import { openPages } from './feed-pages.ts'

const ALL: LogFilter = { types: null, kind: null, contestId: null, nonzero: false }
const NONE: LogFilter = { ...ALL, kind: 'none' }

suite('a page of the stream', () => {
  test('is made once for all subscribers of one filter that come to the same place', async () => {
    await using stage = await openStage()
    stage.publish(300)
    const pages = openPages(stage.reader, streamLimits())
    const [one, two] = [pages.feed(ALL, 'sse'), pages.feed({ ...ALL }, 'sse')]
    assert.equal(one.page(seqOf(0), 1_000), two.page(seqOf(0), 1_000))
    const lines = pages.feed(ALL, 'ndjson')
    assert.notEqual(lines.page(seqOf(0), 1_000).packet, one.page(seqOf(0), 1_000).packet)
    assert.deepEqual(one.page(seqOf(160), 1_000).scannedTo, 300)
  })

  test('goes with the last subscriber of its feed', async () => {
    await using stage = await openStage()
    stage.publish(10)
    const pages = openPages(stage.reader, streamLimits())
    const [one, two] = [pages.feed(ALL, 'sse'), pages.feed(ALL, 'sse')]
    one.page(seqOf(0), 1_000)
    one.close()
    assert.ok(pages.keptBytes() > 0)
    two.close()
    assert.equal(pages.keptBytes(), 0)
  })

  test('is kept only near the head, and no more of them than allowed', async () => {
    await using stage = await openStage()
    stage.publish(3_000)
    const limits = streamLimits({ recentEvents: 1_000, keptBytesMax: 100_000 })
    const pages = openPages(stage.reader, limits)
    const feed = pages.feed(ALL, 'sse')
    feed.page(seqOf(1_000), 1_000)
    assert.equal(pages.keptBytes(), 0)
    for (let after = 2_000; after < 3_000; after += 10) {
      feed.page(seqOf(after), 1_000)
      assert.ok(pages.keptBytes() <= 100_000)
    }
    assert.ok(pages.keptBytes() > 0)
  })

  test('never scans past the place where its reader owes a position', async () => {
    await using stage = await openStage()
    stage.publish(900)
    const pages = openPages(stage.reader, streamLimits())
    const feed = pages.feed(NONE, 'sse')
    assert.equal(feed.page(seqOf(0), 1_000).scannedTo, 900)
    assert.equal(feed.page(seqOf(0), 400).scannedTo, 400)
    const { packet, count, silence } = feed.page(seqOf(0), 1_000)
    assert.deepEqual({ packet, count, silence }, { packet: null, count: 0, silence: 900 })
  })
})
