import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { openClusterNode } from '../../../src/cluster/node/open-node.ts'
import { openModelClock } from '../../stage/virtual-clock.ts'
import { firstRow, openMemoryBook } from '../model/memory-book.ts'
import { openMemoryTable } from '../model/memory-table.ts'

suite('a node that takes no drafts, as its disk is full', () => {
  test('gives its rows back to a table that has lost them, because others wait for that', async () => {
    const clock = openModelClock()
    const first = firstRow()
    const table = openMemoryTable({ clock, random: randomOf('full'), first })
    const open = (accepts: () => boolean) => {
      const book = openMemoryBook({ rows: [first], isFull: false, isBroken: false }, () => undefined)
      const link = table.connect()
      const node = openClusterNode({
        table: link.table,
        book,
        primary: null,
        timers: { now: clock.now, sleep: link.sleep },
        evidence: { keep: () => undefined },
        mayRetry: () => false,
        accepts,
        onBooks: () => undefined,
        onNotice: () => undefined,
      })
      const publish = (ref: string) => node.commit(() => book.publish([{ ref, needs: null, attempt: ref }]))
      return { node, publish }
    }
    let hasRoom = true
    const full = open(() => hasRoom)
    await clock.sleep(2_000)
    for (const ref of ['one', 'two']) assert.equal((await full.publish(ref)).is, 'committed')
    hasRoom = false
    table.loseTail(1)
    const other = open(() => true)
    await clock.sleep(60_000)
    assert.equal(full.node.state().leads, false)
    assert.equal(table.rows().length, 3)
    assert.equal((await other.publish('three')).is, 'committed')
    const closed = [full, other].map(({ node }) => node[Symbol.asyncDispose]())
    await clock.sleep(1_000)
    await Promise.all(closed)
    clock.stop()
  })
})
