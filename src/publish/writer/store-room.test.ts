import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openStoreRoom } from './store-room.ts'

suite('the room of a store', () => {
  test('ends when a commit meets a full disk, and returns when a probe succeeds', () => {
    const changes: boolean[] = []
    const looks: (() => void)[] = []
    let disk: 'full' | 'broken' | 'free' = 'full'
    const room = openStoreRoom({
      probe() {
        if (disk === 'broken') throw new Error('no disk')
        return disk === 'free'
      },
      onChange: (has) => changes.push(has),
      every(look, signal) {
        looks.push(look)
        signal.addEventListener('abort', () => looks.pop())
      },
    })
    room.taken()
    assert.equal(room.has(), true)
    room.full()
    room.full()
    assert.equal(looks.length, 1, 'one probe at a time')
    for (const state of ['full', 'broken'] as const) {
      disk = state
      looks[0]?.()
      assert.equal(room.has(), false)
    }
    disk = 'free'
    looks[0]?.()
    assert.equal(room.has(), true)
    assert.deepEqual([looks.length, changes], [0, [false, true]])
  })

  test('returns at once when a commit succeeds', () => {
    const changes: boolean[] = []
    const room = openStoreRoom({
      probe: () => false,
      onChange: (has) => changes.push(has),
      every: () => undefined,
    })
    room.full()
    room.taken()
    assert.deepEqual([room.has(), changes], [true, [false, true]])
  })
})
