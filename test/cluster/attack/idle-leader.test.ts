import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { openClusterNode } from '../../../src/cluster/node/open-node.ts'
import { openModelClock } from '../../stage/virtual-clock.ts'
import { firstRow, openMemoryBook } from '../model/memory-book.ts'
import { openMemoryTable } from '../model/memory-table.ts'

suite('a leader without drafts', () => {
  test('leads no longer when no standby confirms the table, so that no balancer sends drafts there', async () => {
    const clock = openModelClock()
    const first = firstRow()
    const table = openMemoryTable({ clock, random: randomOf('idle'), first })
    const book = openMemoryBook({ rows: [first], isFull: false, isBroken: false }, () => undefined)
    const link = table.connect()
    const node = openClusterNode({
      table: link.table,
      book,
      primary: null,
      timers: { now: clock.now, sleep: link.sleep },
      evidence: { keep: () => undefined },
      mayRetry: () => false,
      accepts: () => true,
      onBooks: () => undefined,
      onNotice: () => undefined,
    })
    try {
      await clock.sleep(2_000)
      assert.equal(node.state().leads, true)
      table.setStandby(false)
      await clock.sleep(10_000)
      const { leads, refusal } = node.state()
      assert.equal(leads, false)
      assert.notEqual(refusal, null)
      table.setStandby(true)
      await clock.sleep(10_000)
      assert.equal(node.state().leads, true)
    } finally {
      const closed = node[Symbol.asyncDispose]()
      await clock.sleep(1_000)
      await closed
      clock.stop()
    }
  })
})
