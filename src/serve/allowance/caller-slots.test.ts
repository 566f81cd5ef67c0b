import assert from 'node:assert/strict'
import { once } from 'node:events'
import { suite, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { allocateCallerSlots, openCallerSlots, type CallerSlot } from './caller-slots.ts'

const SECRET = 'a secret of this test alone'

function fresh(perCaller: number, perNode: number) {
  return openCallerSlots(allocateCallerSlots({ perCaller, perNode }, SECRET))
}

suite('the slots of streams', () => {
  test('are at most ten for one caller, and do not affect others', () => {
    const slots = fresh(10, 10_000)
    let taken = 0
    for (let n = 0; n < 20_000; n += 1) taken += Number(slots.take('greedy').ok)
    assert.equal(taken, 10)
    assert.deepEqual(slots.take('greedy'), { ok: false, full: 'caller' })
    assert.ok(slots.take('modest').ok)
    assert.equal(slots.open(), 11)
  })

  test('are limited for a node over all callers', () => {
    const slots = fresh(10, 25)
    for (let n = 0; n < 25; n += 1) assert.ok(slots.take(String(n)).ok)
    assert.deepEqual(slots.take('one more'), { ok: false, full: 'node' })
    assert.deepEqual(slots.take('3'), { ok: false, full: 'node' })
  })

  test('are counted like a list of the open streams, in any order of taking and releasing', () => {
    const step = fc.record({
      key: fc.integer({ min: 1, max: 6 }).map(String),
      release: fc.option(fc.nat(30)),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (schedule) => {
        const slots = fresh(3, 8)
        const held: { key: string; slot: CallerSlot }[] = []
        const released: CallerSlot[] = []
        for (const { key, release } of schedule) {
          if (release !== null) {
            const [gone] = held.splice(release % 8, 1)
            if (gone !== undefined) released.push(gone.slot)
            // A second release changes nothing.
            for (const slot of released) slot.release()
          } else {
            const own = held.filter((stream) => stream.key === key).length
            const full = own >= 3 ? 'caller' : held.length >= 8 ? 'node' : undefined
            const taken = slots.take(key)
            assert.equal(taken.ok ? undefined : taken.full, full)
            if (taken.ok) held.push({ key, slot: taken.slot })
          }
          assert.equal(slots.open(), held.length)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('are counted once when several threads take and release them', async () => {
    const memory = allocateCallerSlots({ perCaller: 10, perNode: 16 }, SECRET)
    const most = await Promise.all([1, 2, 3].map((thread) => mostHeldByThread({ memory, thread })))
    for (const held of most) assert.ok(held > 0 && held <= 10)
    assert.equal(openCallerSlots(memory).open(), 0)
    assert.equal(openCallerSlots(memory).take('shared').ok, true)
  })
})

const THREAD = `
  import { parentPort, workerData } from 'node:worker_threads'
  const { openCallerSlots } = await import(workerData.module)
  const slots = openCallerSlots(workerData.memory)
  let most = 0
  for (let round = 0; round < 2000; round += 1) {
    const taken = []
    for (const key of ['shared', 'shared', 'shared', 'shared', 'own ' + workerData.thread]) {
      const result = slots.take(key)
      if (result.ok) taken.push(result.slot)
    }
    most = Math.max(most, taken.length)
    for (const slot of taken) { slot.release(); slot.release() }
  }
  parentPort.postMessage(most)
`

async function mostHeldByThread(data: Readonly<Record<string, unknown>>): Promise<number> {
  const module = new URL('./caller-slots.ts', import.meta.url).href
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`), {
    workerData: { ...data, module },
  })
  const [most] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  return most
}
