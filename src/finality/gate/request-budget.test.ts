import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openRequestBudget } from './request-budget.ts'

const MINUTE_MS = 60_000

suite('the budget of requests', () => {
  test('is never exceeded in any minute, and never refuses what fits', () => {
    const step = fc.record({
      pauseMs: fc.integer({ min: 0, max: 9_000 }),
      count: fc.integer({ min: 1, max: 12 }),
    })
    fc.assert(
      fc.property(
        fc.integer({ min: 72, max: 400 }),
        fc.array(step, { maxLength: 120, size: 'max' }),
        (perMinute, steps) => {
          const budget = openRequestBudget(perMinute)
          const sent: number[] = []
          let now = 0
          for (const { pauseMs, count } of steps) {
            now += pauseMs
            const wait = budget.waitMs(now, count)
            assert.equal(wait === 0, budget.left(now) >= count, 'it waits only while too few are left')
            assert.ok(wait <= 10_000, 'nothing waits for more than ten seconds')
            now += wait
            budget.take(now, count)
            sent.push(...Array.from({ length: count }, () => now))
          }
          for (const [index, from] of sent.entries()) {
            const inMinute = sent.slice(index).filter((moment) => moment < from + MINUTE_MS)
            assert.ok(
              inMinute.length <= perMinute,
              `${inMinute.length} of ${perMinute} requests from ${from}`,
            )
          }
        },
      ),
    )
  })

  test('is used up within the minute by requests that do not wait', () => {
    const budget = openRequestBudget(240)
    let now = 0
    let sent = 0
    for (;;) {
      now += budget.waitMs(now, 1)
      if (now >= MINUTE_MS) break
      budget.take(now, 1)
      sent += 1
    }
    assert.equal(sent, 240)
  })

  test('throws when more is taken than is left', () => {
    const budget = openRequestBudget(60)
    budget.take(0, 10)
    assert.equal(budget.left(0), 0)
    assert.throws(() => budget.take(9_999, 1), /exceed the budget/)
    budget.take(10_000, 10)
  })
})
