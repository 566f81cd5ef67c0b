import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { locked } from './allowance-lock.ts'

const ROUNDS_MAX = 5_000
const TEST_MS_MAX = 500
const START_MS_MAX = 30_000

/** Places of the lock, and of the last round in which the worker held it, this thread asked for it, and got it. */
const [LOCK, HELD, ASKED, GOT] = [0, 1, 2, 3]

suite('a lock in shared memory', () => {
  test('is free again after its section, also after one that throws', () => {
    const words = new Int32Array(new SharedArrayBuffer(8))
    assert.equal(
      locked(words, LOCK, () => 'an answer'),
      'an answer',
    )
    assert.throws(
      () =>
        locked(words, LOCK, () => {
          throw new Error('a fault')
        }),
      /^Error: a fault$/,
    )
    assert.equal(
      locked(words, LOCK, () => 'another'),
      'another',
    )
    assert.deepEqual([...words], [0, 0])
  })

  test('of a thread that died inside is waited for a hundred times, and then an error', () => {
    const words = new Int32Array(new SharedArrayBuffer(8))
    words[LOCK] = 1
    const begun = performance.now()
    assert.throws(
      () => locked(words, LOCK, () => assert.fail('the section runs'), 1),
      /a lock in shared memory was not released within 100 ms/,
    )
    assert.ok(performance.now() - begun >= 90)
  })

  test('stays held by the thread that it lets in when another one leaves', async () => {
    const words = new Int32Array(new SharedArrayBuffer(16))
    const worker = new Worker(HOLDER, { workerData: { words, module: MODULE } })
    assert.notEqual(Atomics.wait(words, HELD, 0, START_MS_MAX), 'timed-out', 'the other thread begins')
    const endsAt = performance.now() + TEST_MS_MAX
    let free = 0
    for (let round = 1; round <= ROUNDS_MAX && performance.now() < endsAt; round += 1) {
      Atomics.wait(words, HELD, round - 1, TEST_MS_MAX)
      Atomics.store(words, ASKED, round)
      Atomics.notify(words, ASKED)
      free += locked(words, LOCK, () => Number(words[LOCK] === 0))
      Atomics.store(words, GOT, round)
      Atomics.notify(words, GOT)
    }
    await worker.terminate()
    assert.equal(free, 0, 'times that the lock was free while this thread held it')
  })
})

const MODULE = new URL('./allowance-lock.ts', import.meta.url).href

/** Thread that holds the lock in each round until the other one asks for it. */
const HOLDER = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { workerData } from 'node:worker_threads'
  const { locked } = await import(workerData.module)
  const { words } = workerData
  const until = (at, round) => {
    for (let spin = 0; spin < 10_000 && Atomics.load(words, at) !== round; spin += 1);
    while (Atomics.load(words, at) !== round) Atomics.wait(words, at, round - 1)
  }
  for (let round = 1; ; round += 1) {
    locked(words, ${LOCK}, () => {
      Atomics.store(words, ${HELD}, round)
      Atomics.notify(words, ${HELD})
      until(${ASKED}, round)
    })
    until(${GOT}, round)
  }
`)}`,
)
