import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import type { ClusterNode, ClusterNodeSettings, NodeBook } from '../../../src/cluster/node/cluster-node.ts'
import { openClusterNode } from '../../../src/cluster/node/open-node.ts'
import { openModelClock } from '../../stage/virtual-clock.ts'
import { firstRow, openMemoryBook } from '../model/memory-book.ts'
import { openMemoryTable } from '../model/memory-table.ts'

type Failing = Readonly<{ onBooks: ClusterNodeSettings['onBooks']; rollback?: NodeBook['rollback'] }>

/** Runs a story with a node that leads, and whose disk fails at a place. */
async function tell(
  { onBooks, rollback }: Failing,
  story: (node: ClusterNode, answer: (refs: readonly string[]) => Promise<string>) => Promise<void>,
): Promise<void> {
  const clock = openModelClock()
  const first = firstRow()
  const link = openMemoryTable({ clock, random: randomOf('failing'), first }).connect()
  const book = openMemoryBook({ rows: [first], isFull: false, isBroken: false }, () => undefined)
  const node = openClusterNode({
    table: link.table,
    book: { ...book, ...(rollback !== undefined && { rollback }) },
    primary: null,
    timers: { now: clock.now, sleep: link.sleep },
    evidence: { keep: () => undefined },
    mayRetry: () => false,
    accepts: () => true,
    onBooks,
    onNotice: () => undefined,
  })
  try {
    await clock.sleep(2_000)
    assert.ok(node.state().leads)
    const build = (refs: readonly string[]): unknown =>
      book.publish(refs.map((ref) => ({ ref, needs: null, attempt: ref })))
    await story(node, async (refs) => {
      const silence = clock.sleep(20_000).then(() => ({ is: 'silence' }))
      const { is } = await Promise.race([node.commit(() => build(refs)), silence])
      await clock.sleep(1_000)
      return is
    })
  } finally {
    const closed = node[Symbol.asyncDispose]()
    await clock.sleep(1_000)
    await closed
    clock.stop()
  }
}

suite('a commit whose node fails after it', () => {
  test('is answered, also when the mark beside the store cannot be written', async () => {
    let isBroken = false
    const onBooks: Failing['onBooks'] = (change) => {
      if (isBroken && change === 'committed') throw new Error('EIO')
    }
    await tell({ onBooks }, async (node, answer) => {
      isBroken = true
      assert.equal(await answer(['one']), 'unknown')
      assert.equal(node.state().stopped?.is, 'local')
    })
  })

  test('is answered, also when nothing changed, and the transaction cannot be ended', async () => {
    const rollback = (): void => {
      throw new Error('EIO')
    }
    await tell({ onBooks: () => undefined, rollback }, async (node, answer) => {
      assert.equal(await answer([]), 'unknown')
      assert.equal(node.state().stopped?.is, 'local')
    })
  })
})
