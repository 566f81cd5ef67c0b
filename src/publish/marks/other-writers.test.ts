import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { EPOCH_MS } from '../../../test/messages/model-keys.ts'
import { SOME_MARK } from '../../../test/messages/some-mark.ts'
import type { OpenedMark } from './sealed-mark.ts'
import { openOtherWriters } from './other-writers.ts'
import type { WriterMark } from './writer-mark.ts'

/** Seconds after the start of this node's run. */
const at = (seconds: number): number => EPOCH_MS + seconds * 1000

let number = 0
/** The next mark of a writer, signed with the key of its name. */
function told(change: Partial<WriterMark>, key = `key of ${change.node ?? 'B'}`): OpenedMark {
  number += 1
  return { mark: { ...SOME_MARK, number, ...change }, key }
}

function openWriters() {
  const names: string[] = []
  const time = { ms: 0 }
  const clock = {
    now: () => time.ms,
    pause: async () => undefined,
    within: async <A>(_: number, answer: Promise<A>) => answer,
  }
  const known = { names: () => names, add: (name: string) => void names.push(name) }
  const own = {
    node: 'A',
    run: 'A 2',
    key: 'key of A',
    logId: SOME_MARK.logId,
    stream: 1,
    begin: () => 'first',
  }
  return { names, time, writers: openOtherWriters({ ...own, sinceMs: () => EPOCH_MS }, known, clock) }
}

suite('the other writers', () => {
  test('are remembered by name, without this node and without the writers of other logs', () => {
    const { names, writers } = openWriters()
    assert.equal(writers.hear(told({})), true)
    assert.equal(writers.hear(told({})), true)
    assert.equal(writers.hear(told({ node: 'A', run: 'A 2' })), false, 'its own mark')
    assert.equal(writers.hear(told({ node: 'X', logId: 'other' })), false)
    writers.hear(told({ node: 'A', run: 'A 1' }))
    assert.deepEqual(names, ['B'])
  })

  test('count as far as their marks of the last 10 seconds and of the same stream say', () => {
    const { time, writers } = openWriters()
    writers.hear(told({ begin: 'first' }))
    writers.hear(told({ node: 'C', run: 'C 1', place: 20, stream: 2 }))
    writers.hear(told({ node: 'C', run: 'C 2', place: 20, begin: 'of another stream 1' }))
    assert.equal(writers.farthest(), 12)
    assert.deepEqual([writers.later(), writers.aheadOf(99)], [['C'], ['C']])
    time.ms = 10_000
    assert.deepEqual(writers.later(), [])
    assert.equal(writers.farthest(), 0)
    assert.deepEqual(writers.silentSince(1), ['B', 'C'])
  })

  test('are heard once for each mark: a mark that comes again is not one that was told now', () => {
    const { time, writers } = openWriters()
    const first = told({})
    const second = told({ place: 13 })
    assert.equal(writers.hear(second), true)
    time.ms = 5000
    for (const again of [first, second]) assert.equal(writers.hear(again), false)
    assert.deepEqual([writers.farthest(), writers.silentSince(1)], [13, ['B']])
  })

  test('have answered a question when a mark of theirs names it', () => {
    const { writers } = openWriters()
    writers.hear(told({}))
    assert.deepEqual([writers.owing('A 2 1'), writers.hasAnswered('A 2 1')], [['B'], false])
    writers.hear(told({ answers: ['C 1 9', 'A 2 1'] }))
    assert.deepEqual([writers.owing('A 2 1'), writers.hasAnswered('A 2 1')], [[], true])
    assert.deepEqual(writers.owing('A 2 2'), ['B'], 'an answer to an earlier question')
  })

  test('are forgotten when an operator deletes their names, unless they are heard', () => {
    const { names, time, writers } = openWriters()
    for (const node of ['B', 'C']) writers.hear(told({ node, run: `${node} 1` }))
    time.ms = 15_000
    writers.hear(told({ node: 'B', run: 'B 1' }))
    names.length = 0
    time.ms = 22_000
    assert.deepEqual(
      writers.heard().map(({ mark }) => mark.node),
      ['B'],
    )
    assert.deepEqual(
      [writers.absent(), writers.silentSince(21_000), writers.owing('A 2 1')],
      [[], ['B'], ['B']],
    )
    writers.hear(told({ node: 'C', run: 'C 2' }))
    assert.deepEqual(names, ['C'], 'a writer that comes again')
  })

  test('are kept again when they speak after their names were deleted, or could not be written', () => {
    const { names, time, writers } = openWriters()
    writers.hear(told({}))
    names.length = 0
    for (const ms of [2000, 4000]) {
      time.ms = ms
      writers.hear(told({ run: `B ${ms}` }))
      assert.deepEqual(names, ['B'])
    }
    time.ms = 60_000
    assert.deepEqual(writers.absent(), ['B'])
  })

  test('are 32 at most, until one of them is silent for 20 seconds', () => {
    const { names, time, writers } = openWriters()
    for (let index = 0; index < 40; index += 1) writers.hear(told({ node: `node ${index}`, run: `${index}` }))
    assert.equal(names.length, 32)
    time.ms = 20_001
    assert.equal(writers.hear(told({ node: 'late', run: 'late' })), true)
  })
})

suite('two running nodes', () => {
  const twinsAfter = (...marks: readonly OpenedMark[]) => {
    const opened = openWriters()
    for (const mark of marks) opened.writers.hear(mark)
    return opened
  }

  test('are found out when they have one name, and the later one is known', () => {
    const later = twinsAfter(told({ node: 'A', run: 'A 3', sinceMs: at(5) }, 'other key'))
    assert.deepEqual(later.writers.twins(), [{ shared: 'name', names: ['A', 'A'], isOurs: false }])
    const earlier = twinsAfter(told({ node: 'A', run: 'A 1', sinceMs: at(-9), atMs: at(3) }, 'other key'))
    assert.deepEqual(earlier.writers.twins(), [{ shared: 'name', names: ['A', 'A'], isOurs: true }])
    earlier.time.ms = 20_000
    assert.deepEqual(earlier.writers.twins(), [], 'no mark for 20 seconds')
    assert.deepEqual(
      twinsAfter(
        told({ run: 'B 1', sinceMs: at(1) }),
        told({ run: 'B 2', sinceMs: at(30), atMs: at(31) }, 'other key'),
        told({ run: 'B 1', sinceMs: at(1), atMs: at(40) }),
      ).writers.twins(),
      [{ shared: 'name', names: ['B', 'B'], isOurs: false }],
    )
  })

  test('are found out when they have one key, as those of a copied directory', () => {
    const { writers } = twinsAfter(told({ node: 'B', run: 'B 1', sinceMs: at(-9), atMs: at(3) }, 'key of A'))
    assert.deepEqual(writers.twins(), [{ shared: 'key', names: ['B', 'A'], isOurs: true }])
    assert.equal(writers.heard().length, 1)
  })

  test('are not what is left of the last run of a node', () => {
    for (const last of [
      told({ node: 'A', run: 'A 1', sinceMs: at(-60), atMs: at(-1) }),
      told({ node: 'A', run: 'A 1', sinceMs: at(-60), atMs: at(1) }),
    ])
      assert.deepEqual(twinsAfter(last).writers.twins(), [])
    const restarted = [
      told({ run: 'B 1', sinceMs: at(1), atMs: at(29) }),
      told({ run: 'B 2', sinceMs: at(30), atMs: at(30) }),
    ]
    assert.deepEqual(twinsAfter(...restarted).writers.twins(), [])
  })
})
