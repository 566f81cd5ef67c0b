import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { boundOf, QUARTER_MS, WEEK_MS } from '../../protocol/moment.ts'
import { advance, NO_WEEK, nextQuarter } from './week-builder.ts'
import { NO_ACTIVITY } from './week-sums.ts'

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
