import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { boundOf, DAY_MS, type Ms, QUARTER_MS, WEEK_MS } from '../../protocol/moment.ts'
import type { Activity } from './books.ts'
import { addActivity, advance, nextQuarter, NO_ACTIVITY, NO_WEEK, weekOf, weekStrided } from './week-sums.ts'

test('a builder of a week changes at its next quarter hour, and at no moment before it', () => {
  const START = Date.UTC(2026, 9, 3, 11, 22)
  const steps = fc.array(fc.integer({ min: 0, max: WEEK_MS / 3 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(steps, (waits) => {
      let [builder, ms] = [NO_WEEK, START]
      for (const wait of waits) {
        ms += wait
        builder = advance(builder, boundOf(ms), NO_ACTIVITY).builder
        const next = nextQuarter(builder)
        assert.ok(next > ms && next <= ms + QUARTER_MS)
        assert.deepEqual(advance(builder, boundOf(next - 1), NO_ACTIVITY), { builder, ended: null })
        assert.notDeepEqual(advance(builder, next, NO_ACTIVITY).builder, builder)
      }
    }),
  )
})

/** Activity at a moment: a play, a prize that is paid, and tokens that are burned. */
const events = fc
  .array(
    fc.record({
      waitMs: fc.oneof(fc.nat(2 * DAY_MS), fc.nat(3 * WEEK_MS), fc.constantFrom(0, QUARTER_MS, WEEK_MS)),
      kind: fc.constantFrom('entry', 'vote'),
      spent: fc.bigInt({ min: -9n, max: 9n }),
      paid: fc.bigInt({ min: -9n, max: 9n }),
      burned: fc.bigInt({ min: 0n, max: 9n }),
    }),
    { minLength: 2, maxLength: 12 },
  )
  .map((steps) => {
    let ms = Date.UTC(2026, 9, 3, 11, 22)
    return steps.map(({ waitMs, kind, spent, paid, burned }) => {
      ms += waitMs
      const spentByKind = new Map([[kind, spent]])
      const activity = { plays: 1n, spentOnPlay: spent, paidInPrizes: paid, burned, spentByKind }
      return { atMs: boundOf(ms), activity }
    })
  })

test('rows of settled weeks hold the activity before their quarter hours, a week earlier, and so on', () => {
  fc.assert(
    fc.property(events, fc.nat(), (log, pick) => {
      const before = (ms: Ms): Activity =>
        log
          .filter(({ atMs }) => atMs < ms)
          .reduce((sum, { activity }) => addActivity(sum, activity), NO_ACTIVITY)
      const weeks = new Map<Ms, readonly Activity[]>()
      let builder = NO_WEEK
      let activity = NO_ACTIVITY
      for (const event of log) {
        const advanced = advance(builder, event.atMs, activity)
        builder = advanced.builder
        if (advanced.ended !== null) weeks.set(advanced.ended.week, advanced.ended.rows)
        activity = addActivity(activity, event.activity)
      }
      const [first, end] = [log[0]?.atMs ?? boundOf(0), weekOf(log.at(-1)?.atMs ?? boundOf(0))]
      const quarters = (end - weekOf(first)) / QUARTER_MS
      fc.pre(quarters > 0)
      const q = boundOf(weekOf(first) + (pick % quarters) * QUARTER_MS)
      const repository = {
        row: (ms: Ms) => weeks.get(weekOf(ms))?.[(ms - weekOf(ms)) / QUARTER_MS],
        weekWithRows: (week: Ms) => [...weeks.keys()].findLast((one) => one <= week),
        activityBefore: before,
      }
      let sum = NO_ACTIVITY
      for (let at = q; at > first; at = boundOf(at - WEEK_MS)) sum = addActivity(sum, before(at))
      assert.deepEqual(weekStrided(repository, q), sum)
    }),
  )
})
