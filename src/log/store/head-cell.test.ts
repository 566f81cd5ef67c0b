import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { seqOf } from '../../protocol/seq.ts'
import { openHeadCell } from './head-cell.ts'

suite('the head in shared memory', () => {
  test('is the same for all who open it, counts the commits, and wakes those who wait for it', async () => {
    const cell = openHeadCell()
    const other = openHeadCell(cell.buffer)
    assert.deepEqual([other.read(), other.commits()], [0, 0])
    const began = performance.now()
    const moved = other.moved(other.read())
    cell.move(seqOf(3))
    await moved
    assert.ok(performance.now() - began < 950, 'nobody waits for the end of a second')
    assert.deepEqual([other.read(), other.commits()], [3, 1])
    cell.move(seqOf(3))
    assert.deepEqual([other.read(), other.commits()], [3, 2])
    // The head is another one already.
    await other.moved(seqOf(2))
    cell.move(seqOf(2 ** 40))
    assert.equal(other.read(), 2 ** 40)
  })
})
