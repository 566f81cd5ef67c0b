import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { BookNodes } from '../../../test/cluster/book/book-nodes.ts'
import { assertSameTables, openBookNodes } from '../../../test/cluster/book/book-nodes.ts'
import { randomOutput } from '../../../test/story/random-output.ts'
import { randomLogs } from '../../../test/story/random-log.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { formatDetailsLine } from '../../protocol/details.ts'
import type { Draft } from '../../protocol/draft.ts'
import { formatEvent } from '../../protocol/event.ts'
import { msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import type { CommitQueue } from '../../publish/commits/commit-queue.ts'
import { formatRowSections } from '../row/row-sections.ts'
import { ROW_BYTES_MAX } from '../table/log-table.ts'
import { rowRoom } from './row-room.ts'

const TX_OF_MANY = 'transaction-of-many'
const NOW = Date.UTC(2026, 5, 1)
const ZEROS = new Uint8Array(32)
const DIGEST = ZEROS.subarray(0, 16)

/** Bytes that a draft has in a row when it is published, and when it is held. */
function bytesOf(draft: Draft, seq: number): readonly [published: number, held: number] {
  const { ref, details, type, kind, contestId, kots, tx } = draft
  const event = { seq: seqOf(seq), type, kind, atMs: msOf(NOW), contestId, kots, tx }
  const none = {
    is: 'commit',
    first: 1,
    root: ZEROS,
    lines: [],
    details: [],
    refs: [],
    held: [],
    segments: [],
    moved: null,
  } as const
  const published = formatRowSections({
    ...none,
    lines: [formatEvent(event)],
    details: [details === null ? null : formatDetailsLine(event.seq, details)],
    refs: [{ ref: ref ?? '', digest: DIGEST }],
  })
  const waits = { place: null, settledAt: null, vouch: null, reason: null }
  const held = {
    id: 9_999_999,
    ref: ref ?? '',
    draft,
    acceptedAt: msOf(NOW),
    chain: 'asked',
    ...waits,
  } as const
  const sizes = formatRowSections({ ...none, held: [{ is: 'hold', held }] })
  return [published.lines.length + published.details.length + published.refs.length, sizes.held.length]
}

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

/** Asserts that every row fits, and that the other node has the same tables. Returns the number of rows. */
function assertCarried(cluster: BookNodes): number {
  for (const { bytes } of cluster.rows) assert.ok(bytes.length <= ROW_BYTES_MAX, `${bytes.length} bytes`)
  cluster.follow(1)
  assertSameTables(cluster.node(0).db(), cluster.node(1).db())
  return cluster.rows.length - 1
}

suite('the size of a draft', () => {
  test('is never less than its bytes in a row, published or held', () => {
    const { sizeOf } = rowRoom(
      () => 0,
      () => undefined,
    )
    const refs = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 })
    const seqs = fc.integer({ min: 1, max: 10 ** 12 })
    fc.assert(
      fc.property(randomLogs, refs, seqs, (entries, ref, seq) => {
        for (const { event, details } of entries) {
          const { type, kind, contestId, kots, tx } = event
          const draft = { ref, atMs: null, type, kind, contestId, kots, tx, details }
          const size = sizeOf([draft])
          const [published, held] = bytesOf(draft, seq)
          assert.ok(published <= size && held <= size, `${published}, ${held} of ${size}: ${type}/${kind}`)
          assert.ok(
            size <= Math.max(published, held) + 120,
            `${size} is far more than ${published} and ${held}`,
          )
        }
      }),
    )
  })
})

suite('a row', () => {
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

  test('holds several requests as far as they fit, and the next one the others', async () => {
    using cluster = openTwo()
    const queue = cluster.node(0).queue()
    const requests = Array.from({ length: 4 }, (_, request) =>
      Array.from({ length: 3_000 }, (_draft, index) => tradeDraft(`${request}-${index}-${'é'.repeat(60)}`)),
    )
    const outcomes = await Promise.all(requests.map(queue.submit))
    assert.ok(outcomes.every(({ ok }) => ok))
    assert.equal(assertCarried(cluster), 2)
  })

  test('does not hold a request that is too large, which is refused', async () => {
    using cluster = openTwo()
    const drafts = Array.from({ length: 9_000 }, (_, index) => tradeDraft(`${index}-${'é'.repeat(120)}`))
    const outcome = await cluster.node(0).queue().submit(drafts)
    assert.equal(outcome.ok ? 'accepted' : outcome.code, 'too-large')
    assert.equal(assertCarried(cluster), 0)
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
