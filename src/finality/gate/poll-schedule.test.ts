import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { randomOf } from '../../../sim/random.ts'
import { openPollSchedule, POLL_PACE } from './poll-schedule.ts'

const SECOND_MS = 1_000
const { firstMs, longestMs } = POLL_PACE

/** A schedule whose randomness follows from the seed. */
function seeded(seed: string): ReturnType<typeof openPollSchedule> {
  return openPollSchedule(POLL_PACE, randomOf(seed).next)
}

suite('the schedule of questions', () => {
  test('asks a new transaction after two seconds, and then at growing intervals up to a minute', () => {
    const schedule = seeded('growing')
    schedule.add('tx', 0, 0)
    const asked: number[] = []
    for (let now = 0; now < 600 * SECOND_MS; now += 100) {
      if (schedule.take(10, now).length > 0) asked.push(now)
    }
    assert.equal(asked[0], firstMs)
    for (const [index, moment] of asked.entries()) {
      const before = asked[index - 1]
      if (before === undefined) continue
      const said = Math.min(Math.max(before / 2, firstMs), longestMs)
      assert.ok(moment - before >= (said * 3) / 4, `asked ${moment - before} ms after ${before}`)
      assert.ok(moment - before <= said + 100, `asked ${moment - before} ms after ${before}`)
    }
  })

  test('finds a settlement within one and a half times the time that the chain took', () => {
    const schedule = seeded('settlement')
    schedule.add('tx', 0, 0)
    for (const finalMs of [5_000, 13_000, 60_000, 110_000]) {
      let now = finalMs
      while (schedule.take(1, now).length === 0) now += 50
      assert.ok(now <= finalMs * 1.5 + firstMs, `final after ${finalMs} ms, found after ${now} ms`)
    }
  })

  test('spreads old transactions over a minute after a restart', () => {
    const schedule = seeded('restart')
    for (let index = 0; index < 6_000; index += 1) schedule.add(`tx-${index}`, 3_600 * SECOND_MS, 0)
    for (let now = SECOND_MS; now <= longestMs; now += SECOND_MS) {
      const { length } = schedule.take(6_000, now)
      assert.ok(length > 50 && length < 260, `${length} of 6000 in one second`)
    }
  })

  test('knows a transaction once, and forgets it when it is removed', () => {
    const schedule = seeded('once')
    schedule.add('tx', 0, 0)
    schedule.add('tx', 0, 1_000)
    assert.equal(schedule.size(), 1)
    assert.deepEqual(schedule.take(5, firstMs), ['tx'])
    schedule.remove('tx')
    assert.equal(schedule.size(), 0)
    assert.equal(schedule.dueAt(), null)
    assert.deepEqual(schedule.take(5, 3_600 * SECOND_MS), [])
    schedule.add('tx', 0, 7_200 * SECOND_MS)
    assert.equal(schedule.dueAt(), 7_200 * SECOND_MS + firstMs)
  })

  test('never asks more often than it says and lets nothing starve, whatever is added and removed', () => {
    const step = fc.record({
      pauseMs: fc.integer({ min: 1, max: 4_000 }),
      added: fc.array(fc.integer({ min: 0, max: 600 * SECOND_MS }), { maxLength: 12 }),
      removed: fc.array(fc.nat(), { maxLength: 3 }),
      max: fc.integer({ min: 0, max: 8 }),
    })
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }),
        (seed, steps) => {
          const schedule = seeded(seed)
          /** Moments of birth and of the last question of each transaction. */
          const model = new Map<string, { bornMs: number; askedMs: number | null; addedMs: number }>()
          /** Questions that were allowed since a transaction became due. */
          let now = 0
          let number = 0
          for (const { pauseMs, added, removed, max } of steps) {
            now += pauseMs
            for (const ageMs of added) {
              const tx = `tx-${(number += 1)}`
              schedule.add(tx, ageMs, now)
              model.set(tx, { bornMs: now - ageMs, askedMs: null, addedMs: now })
            }
            for (const which of removed) {
              const tx = [...model.keys()][which % Math.max(model.size, 1)]
              if (tx === undefined) continue
              schedule.remove(tx)
              model.delete(tx)
            }
            for (const tx of schedule.take(max, now)) {
              const known = model.get(tx)
              assert.ok(known !== undefined, 'only held transactions are asked')
              if (known.askedMs === null) assert.ok(now - known.bornMs >= firstMs, 'not before two seconds')
              else {
                const said = Math.min(Math.max((known.askedMs - known.bornMs) / 2, firstMs), longestMs)
                assert.ok(now - known.askedMs >= said * 0.75, 'not more often than said')
              }
              known.askedMs = now
            }
            assert.equal(schedule.size(), model.size)
          }
          // From here on two are asked in each second. So each is asked within its interval and one second for each that
          // waits: half of the questions are for the old ones, half for the young ones.
          const limitMs = longestMs + (model.size + 2) * SECOND_MS
          const from = now
          const waiting = new Set(model.keys())
          while (waiting.size > 0) {
            now += SECOND_MS
            for (const tx of schedule.take(2, now)) waiting.delete(tx)
            assert.ok(now - from <= limitMs, `${waiting.size} of ${model.size} starve`)
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  test('asks a new transaction soon while fifty thousand old ones wait, and all of those in turn', () => {
    const schedule = seeded('crowd')
    const held = 50_000
    const aSecond = 400
    for (let index = 0; index < held; index += 1) schedule.add(`old-${index}`, 7_200 * SECOND_MS, 0)
    const seen = new Set<string>()
    let newest = 0
    for (let second = 60; second < 60 + (2 * held) / aSecond + 70; second += 1) {
      const now = second * SECOND_MS
      if (second % 10 === 0) schedule.add(`new-${(newest = now)}`, 0, now)
      const asked = schedule.take(aSecond, now)
      assert.ok(asked.length <= aSecond)
      if (now === newest + firstMs) assert.ok(asked.includes(`new-${newest}`), 'a new one is not late')
      for (const tx of asked) if (tx.startsWith('old-')) seen.add(tx)
    }
    assert.equal(seen.size, held)
  })
})
