import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { seqOf } from '../../protocol/seq.ts'
import { advanceCursor, cursorAt, isAhead, isBehind } from './cursor.ts'
import { packetOf } from './stream-frame.ts'
import { streamLimits } from './limits.ts'
import type { Feed } from './feed-pages.ts'

const limits = streamLimits({ pageEventsMax: 4, scanEventsMax: 10, liveLagEventsMax: 6 })

/** A log as an array: for each seq from 1, whether its event matches the filter. */
type Matches = boolean[]

/** The feed of such a log. It appends every seq that it shows to `shown`. */
function feedOf(log: Matches, shown: number[]): Feed {
  return {
    framing: 'sse',
    page(after, scanMax) {
      const seqs: number[] = []
      let scannedTo: number = after
      while (scannedTo < log.length && scannedTo - after < scanMax && seqs.length < limits.pageEventsMax) {
        scannedTo += 1
        if (log[scannedTo - 1] === true) seqs.push(scannedTo)
      }
      shown.push(...seqs)
      return {
        packet: seqs.length === 0 ? null : packetOf(Buffer.from(seqs.join(','))),
        count: seqs.length,
        scannedTo: seqOf(scannedTo),
        unmatched: scannedTo - (seqs.at(-1) ?? after),
        clearTo: seqOf(seqs.length > 0 ? scannedTo : clearAfter(log, scannedTo)),
      }
    },
    close: () => undefined,
  }
}

/** The seq before the next match, as an index finds it. */
function clearAfter(log: Matches, scannedTo: number): number {
  const next = log.indexOf(true, scannedTo)
  return next < 0 ? log.length : next
}

suite('a cursor', () => {
  test('shows every match once and in order while the log grows', () => {
    const steps = fc.array(fc.oneof(fc.constant('step' as const), fc.array(fc.boolean(), { maxLength: 30 })))
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 40 }), fc.nat(), steps, (start, offset, story) => {
        const log: Matches = [...start]
        const shown: number[] = []
        const after = offset % (log.length + 1)
        const head = (): ReturnType<typeof seqOf> => seqOf(log.length)
        const cursor = cursorAt(seqOf(after), head())
        const feed = feedOf(log, shown)
        let lastFrame = after
        const step = (): void => {
          const next = advanceCursor(cursor, feed, head, limits)
          const last =
            next.is === 'page' ? (shown.at(-1) ?? 0) : next.is === 'position' ? cursor.seq : lastFrame
          assert.ok(
            last - lastFrame <= limits.scanEventsMax,
            'no more is scanned without a frame than allowed',
          )
          assert.ok(cursor.seq <= log.length)
          lastFrame = last
        }
        for (const act of story) {
          if (act === 'step') step()
          else log.push(...act)
        }
        while (isBehind(cursor, head())) step()
        const expected = log.flatMap((matches, index) => (matches && index >= after ? [index + 1] : []))
        assert.deepEqual(shown, expected)
        assert.deepEqual([cursor.seq, cursor.live], [log.length, true])
      }),
    )
  })

  test('passes what an index excludes without reading it, and writes a position after every ten events', () => {
    const log: Matches = Array.from({ length: 95 }, (_, index) => index === 0 || index === 84)
    const shown: number[] = []
    const feed = feedOf(log, shown)
    const read: number[] = []
    const counted: Feed = {
      ...feed,
      page(after, scanMax) {
        read.push(after)
        return feed.page(after, scanMax)
      },
    }
    const cursor = cursorAt(seqOf(0), seqOf(log.length))
    const positions: number[] = []
    while (isBehind(cursor, seqOf(log.length))) {
      const step = advanceCursor(cursor, counted, () => seqOf(log.length), limits)
      if (step.is === 'position') positions.push(cursor.seq)
    }
    assert.deepEqual(shown, [1, 85])
    assert.deepEqual(positions, [11, 21, 31, 41, 51, 61, 71, 81, 95])
    assert.deepEqual(read, [0, 10, 84, 91])
  })

  test('at the head is live at once and writes no second position', () => {
    const cursor = cursorAt(seqOf(5), seqOf(5))
    assert.deepEqual([cursor.live, isBehind(cursor, seqOf(5))], [true, false])
  })

  test('reads nothing at the head and ahead of it', () => {
    const feed: Feed = { ...feedOf([], []), page: () => assert.fail('no event is there') }
    for (const [at, head] of [
      [2, 2],
      [3, 2],
      [0, 0],
    ] as const) {
      const cursor = cursorAt(seqOf(at), seqOf(head))
      assert.equal(advanceCursor(cursor, feed, () => seqOf(head), limits).is, 'nothing')
      assert.equal(cursor.seq, at)
    }
  })

  test('writes a position when it goes live', () => {
    const log: Matches = [true, true]
    const cursor = cursorAt(seqOf(0), seqOf(2))
    const feed = feedOf(log, [])
    assert.equal(cursor.live, false)
    assert.equal(advanceCursor(cursor, feed, () => seqOf(2), limits).is, 'page')
    assert.equal(advanceCursor(cursor, feed, () => seqOf(2), limits).is, 'position')
    assert.equal(advanceCursor(cursor, feed, () => seqOf(2), limits).is, 'nothing')
  })

  test('goes live at the head, and not one event before it', () => {
    const cursor = cursorAt(seqOf(0), seqOf(5))
    const feed = feedOf([true, true, true, true, true], [])
    advanceCursor(cursor, feed, () => seqOf(5), limits)
    assert.deepEqual([cursor.seq, cursor.live, cursor.positionDue], [4, false, false])
    advanceCursor(cursor, feed, () => seqOf(5), limits)
    assert.deepEqual([cursor.seq, cursor.live, cursor.positionDue], [5, true, true])
  })

  test('ahead of the head waits for it, and is live there', () => {
    const cursor = cursorAt(seqOf(5), seqOf(3))
    const feed = feedOf([true, true, true], [])
    assert.deepEqual(
      advanceCursor(cursor, feed, () => seqOf(3), limits),
      { is: 'nothing' },
    )
    assert.deepEqual([cursor.seq, cursor.live, isBehind(cursor, seqOf(3))], [5, false, false])
    for (const [head, ahead] of [
      [4, true],
      [5, false],
      [6, false],
    ] as const)
      assert.equal(isAhead(cursor, seqOf(head)), ahead, `a head of ${head}`)
    assert.deepEqual(
      advanceCursor(cursor, feed, () => seqOf(5), limits),
      { is: 'position' },
    )
    assert.deepEqual([cursor.seq, cursor.live, isAhead(cursor, seqOf(4))], [5, true, false])
  })

  test('that falls far behind is no longer live', () => {
    const log: Matches = Array.from({ length: 20 }, () => true)
    const cursor = cursorAt(seqOf(2), seqOf(2))
    advanceCursor(cursor, feedOf(log, []), () => seqOf(20), limits)
    assert.deepEqual([cursor.seq, cursor.live], [6, false])
  })

  test('stays live with as many events before it as a lag may have, and not with one more', () => {
    for (const [head, live] of [
      [12, true],
      [13, false],
    ] as const) {
      const log: Matches = Array.from({ length: head }, () => true)
      const cursor = cursorAt(seqOf(2), seqOf(2))
      advanceCursor(cursor, feedOf(log, []), () => seqOf(head), limits)
      assert.deepEqual([cursor.seq, cursor.live, cursor.positionDue], [6, live, false])
    }
  })
})
