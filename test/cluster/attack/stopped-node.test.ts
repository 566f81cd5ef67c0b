import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { readBranches } from '../../../src/cluster/node/fork-branches.ts'
import { openModelClock } from '../../stage/virtual-clock.ts'
import { firstRow, openMemoryBook } from '../model/memory-book.ts'
import { openMemoryTable } from '../model/memory-table.ts'

suite('a node that keeps the evidence of a fork', () => {
  test('shows no place for which others would wait', async () => {
    const clock = openModelClock()
    const first = firstRow()
    const table = openMemoryTable({ clock, random: randomOf('stopped'), first })
    const [stopped, other] = [table.connect(), table.connect()]
    const book = openMemoryBook({ rows: [first], isFull: false, isBroken: false }, () => undefined)
    await stopped.table.look(1, 1_000, 9)
    assert.equal((await other.table.look(1, 1_000, 1)).shown, 9)
    await readBranches(book, stopped.table)
    assert.equal((await other.table.look(1, 1_000, 1)).shown, 0)
    clock.stop()
  })
})
