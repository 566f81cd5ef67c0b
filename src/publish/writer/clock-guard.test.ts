import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Ms, msOf } from '../../protocol/moment.ts'
import { type ClockFault, openClockGuard } from './clock-guard.ts'

const START_MS = Date.UTC(2026, 10, 1)
const MINUTE_MS = 60_000

function stage(headAheadMs: number | null, accepted = false) {
  const clock = { wallMs: START_MS, monotonicMs: 5_000 }
  const head = { aheadMs: headAheadMs }
  const changes: (ClockFault | null)[] = []
  const guard = openClockGuard({
    now: (): Ms => msOf(clock.wallMs),
    monotonicMs: () => clock.monotonicMs,
    headAtMs: () => (head.aheadMs === null ? null : msOf(START_MS + head.aheadMs)),
    accepted,
    onChange: (fault) => changes.push(fault),
  })
  const pass = (ms: number): void => {
    clock.wallMs += ms
    clock.monotonicMs += ms
  }
  return { clock, head, changes, guard, pass }
}

suite("the writer's clock", () => {
  test('is believed while it keeps within 60 s of the monotonic clock, in both directions', () => {
    for (const step of [MINUTE_MS - 1, 1 - MINUTE_MS, 0]) {
      const { clock, guard, pass, changes } = stage(null)
      pass(400 * 24 * 60 * MINUTE_MS)
      clock.wallMs += step
      assert.equal(guard.fault(), null)
      assert.deepEqual(changes, [])
    }
  })

  test('is refused when it leaves the monotonic clock by 60 s, until they agree again', () => {
    for (const step of [MINUTE_MS, -MINUTE_MS, 40 * 24 * 60 * MINUTE_MS]) {
      const { clock, guard, pass, changes } = stage(null, true)
      clock.wallMs += step
      assert.equal(guard.fault(), 'stepped')
      pass(MINUTE_MS * 1_000)
      assert.equal(guard.fault(), 'stepped')
      clock.wallMs -= step
      assert.equal(guard.fault(), null)
      assert.deepEqual(changes, ['stepped', null], 'each change is reported once')
    }
  })

  test('is refused at a start that finds the newest event more than 60 s ahead, until it comes within', () => {
    const near = stage(MINUTE_MS)
    assert.equal(near.guard.fault(), null)
    const { guard, pass, changes } = stage(3 * MINUTE_MS)
    assert.equal(guard.fault(), 'behind-head')
    pass(2 * MINUTE_MS - 1)
    assert.equal(guard.fault(), 'behind-head')
    pass(1)
    assert.equal(guard.fault(), null)
    assert.deepEqual(changes, ['behind-head', null])
  })

  test('is refused behind an event that comes from the engine after the start, until the first own one', () => {
    const { guard, head, pass, changes } = stage(null)
    assert.equal(guard.fault(), null)
    head.aheadMs = 2 * MINUTE_MS
    assert.equal(guard.fault(), 'behind-head')
    pass(MINUTE_MS)
    assert.equal(guard.fault(), null)
    guard.committed()
    head.aheadMs = 5 * MINUTE_MS
    assert.equal(guard.fault(), null, 'another node has published it, and its clock is not judged here')
    assert.deepEqual(changes, ['behind-head', null])
  })

  test('is accepted behind the newest event with --accept-clock', () => {
    const { guard } = stage(365 * 24 * 60 * MINUTE_MS, true)
    assert.equal(guard.fault(), null)
  })
})
