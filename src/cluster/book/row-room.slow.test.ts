import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { assertCarried, type BookNodes, openBookNodes } from '../../../test/cluster/book/book-nodes.ts'
import { randomOutput } from '../../../test/cluster/book/random-output.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import type { Draft } from '../../protocol/draft.ts'
import { msOf } from '../../protocol/moment.ts'
import type { CommitQueue } from '../../publish/commit-queue.ts'

const TX_OF_MANY = 'transaction-of-many'
const NOW = Date.UTC(2026, 5, 1)

function openTwo(asksChain = false): BookNodes {
  return openBookNodes({ nodes: 2, asksChain, balances: 'report', now: () => msOf(NOW) })
}

/** Every second draft has details of random text. */
function halfRandom(index: number): Draft {
  return index % 2 === 0 ? randomOutput(`${index}`) : tradeDraft(`plain-${index}`)
}

/** Holds 9,000 drafts for one transaction: more than a row carries. */
async function holdMany(queue: CommitQueue): Promise<void> {
  const played = (index: number): Draft =>
    tradeDraft(`${String(index).padStart(6, '0')}-${'é'.repeat(120)}`, { tx: TX_OF_MANY })
  for (let at = 0; at < 9_000; at += 3_000) {
    await queue.submit(Array.from({ length: 3_000 }, (_, index) => played(at + index)))
  }
}

suite('a full row', () => {
  test('holds a request of 10,000 drafts with transactions', async () => {
    using cluster = openTwo()
    const tx = (index: number): string => String(index).padStart(88, 'x')
    const drafts = Array.from({ length: 10_000 }, (_, index) =>
      tradeDraft(`trade-${index}`, { tx: tx(index) }),
    )
    assert.ok((await cluster.node(0).queue().submit(drafts)).ok)
    assert.equal(assertCarried(cluster), 1)
    const segments = cluster.node(1).db().prepare('SELECT count(*) AS n FROM segments').get()?.['n']
    assert.equal(segments, 2)
  })

  test('holds as many released drafts as fit, and the next ones the others', async () => {
    using cluster = openTwo(true)
    const queue = cluster.node(0).queue()
    await holdMany(queue)
    const outcome = await queue.held.settle([{ tx: TX_OF_MANY, is: 'final', place: 'slot 1' }], 'chain')
    assert.ok(outcome.ok && outcome.published < 9_000)
    await queue.close()
    await cluster.node(0).queue().held.release([])
    assert.ok(assertCarried(cluster) >= 5)
    assert.equal(cluster.node(1).book().appender.head().seq, 9_000)
  })

  test('keeps room for the requests behind a release', async () => {
    using cluster = openTwo(true)
    const queue = cluster.node(0).queue()
    await holdMany(queue)
    const [settled, published] = await Promise.all([
      queue.held.settle([{ tx: TX_OF_MANY, is: 'final', place: 'slot 1' }], 'chain'),
      queue.submit(
        Array.from({ length: 7_000 }, (_, index) => tradeDraft(`${index}`.padStart(40, 'x'), { tx: null })),
      ),
    ])
    assert.ok(settled.ok && settled.published > 1_000)
    assert.ok(published.ok)
    await queue.close()
    await cluster.node(0).queue().held.release([])
    assertCarried(cluster)
    assert.equal(cluster.node(1).book().appender.head().seq, 16_000)
  })

  test('keeps room behind a segment, for held drafts of the same request and for further requests', async () => {
    using cluster = openTwo(true)
    const queue = cluster.node(0).queue()
    for (let at = 0; at < 4_000; at += 500) {
      await queue.submit(Array.from({ length: 500 }, (_, index) => halfRandom(at + index)))
    }
    const tx = (index: number): string => String(index).padStart(88, 'x')
    const published = Array.from({ length: 100 }, (_, index) => halfRandom(4_000 + index))
    const held = Array.from({ length: 2_500 }, (_, index) => tradeDraft(`paid-${index}`, { tx: tx(index) }))
    const further = Array.from({ length: 3_500 }, (_, index) => tradeDraft(`${index}`.padStart(54, 'x')))
    const outcomes = await Promise.all([queue.submit([...published, ...held]), queue.submit(further)])
    assert.ok(outcomes.every(({ ok }) => ok))
    assert.equal(assertCarried(cluster), 9)
    assert.equal(cluster.node(1).book().held.size(), 2_500)
  })

  test('tells the fate of 50,000 drafts of one transaction', async () => {
    using cluster = openTwo(true)
    const queue = cluster.node(0).queue()
    const tx = 'transaction-of-many'
    for (let at = 0; at < 50_000; at += 5_000) {
      await queue.submit(Array.from({ length: 5_000 }, (_, index) => tradeDraft(`${at + index}`, { tx })))
    }
    const outcome = await queue.held.settle(
      [{ tx, is: 'failed', place: 'slot 1', reason: 'it failed' }],
      'chain',
    )
    assert.deepEqual(outcome, { ok: true, published: 0, failed: 50_000, refused: 0 })
    assertCarried(cluster)
  })

  test('does not hold a segment of random text, which every node stores uncompressed', async () => {
    using cluster = openTwo()
    for (let at = 0; at < 4_100; at += 1_000) {
      const drafts = Array.from({ length: 1_000 }, (_, index) => randomOutput(`${at + index}`))
      assert.ok((await cluster.node(0).queue().submit(drafts)).ok)
    }
    assertCarried(cluster)
    const sizes = cluster
      .node(1)
      .db()
      .prepare('SELECT file, raw_bytes, length(bytes) AS stored FROM segments ORDER BY file')
      .all()
    assert.equal(sizes.length, 2)
    assert.ok(Number(sizes[0]?.['stored']) < Number(sizes[0]?.['raw_bytes']) / 5, 'lines are compressed')
    assert.ok(Number(sizes[1]?.['stored']) > Number(sizes[1]?.['raw_bytes']), 'details are not')
  })
})
