import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openVirtualClock } from '../../../test/stage/virtual-clock.ts'
import type { LogEngine } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { boundedLog } from './bounded-log.ts'
import { openReplicaClock } from './replica-clock.ts'

/** A bounded log over an engine with these answers, and the virtual time that its calls take. */
function openBounded(engine: Partial<LogEngine>) {
  const clock = openVirtualClock()
  const never = <Answer>(): Promise<Answer> => new Promise(() => undefined)
  const places: number[] = []
  const log = boundedLog(
    { append: never, read: never, last: never, wait: never, ...engine },
    openReplicaClock(clock, new AbortController().signal),
    (place) => void places.push(place),
  )
  return { log, now: clock.now, places }
}

suite('an engine, as a writer asks it', () => {
  test('has a second for an append: then its outcome is unknown', async () => {
    const { log, now } = openBounded({})
    assert.equal(await log.append(1, new Uint8Array(1)), 'unknown')
    assert.equal(now(), 1000)
  })

  test('says nothing about a message by failing', async () => {
    const { log } = openBounded({ append: () => Promise.reject(new Error('broken')) })
    assert.equal(await log.append(1, new Uint8Array(1)), 'unknown')
  })

  test('has 5 seconds for a question', async () => {
    const { log, now } = openBounded({})
    await assert.rejects(log.read(1, 1), EngineError)
    await assert.rejects(log.last(), EngineError)
    assert.equal(now(), 10_000)
  })

  test('is waited for no longer than asked', async () => {
    const { log, now } = openBounded({})
    await log.wait(1, 250)
    assert.equal(now(), 250)
  })

  test('gives its answers, and the places that it names', async () => {
    const { log, places } = openBounded({
      append: async () => 'taken',
      last: async () => 7,
      read: async () => [],
    })
    assert.equal(await log.append(8, new Uint8Array(1)), 'taken')
    assert.equal(await log.last(), 7)
    assert.deepEqual(await log.read(8, 1), [])
    assert.deepEqual(places, [7])
  })

  test('names the places of the messages that it reads', async () => {
    const messages = [8, 9].map((place) => ({ place, bytes: new Uint8Array(1) }))
    const { log, places } = openBounded({ read: async () => messages })
    assert.deepEqual(await log.read(8, 1), messages)
    assert.deepEqual(places, [9])
  })
})
