import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import {
  assertSameTables,
  type BookNodes,
  openBookNodes,
  rowsOf,
} from '../../../test/cluster/book/book-nodes.ts'
import { WRONG_ROWS } from '../../../test/cluster/book/wrong-rows.ts'
import { randomRows } from '../../../test/cluster/row/random-rows.ts'
import { OTHER_KEY, TEST_KEY } from '../../../test/story/signing.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { DAY_MS, msOf } from '../../protocol/moment.ts'
import type { TableBook } from './table-book.ts'
import type { CommitRow, LogRow } from '../row/log-row.ts'
import { decodeRow, encodeRow } from '../row/row-frame.ts'
import { RowFault } from '../node/cluster-node.ts'

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 60)
const ZEROS = new Uint8Array(32)

/** Two nodes; the first has written four rows, of which the third closes a month and the fourth holds a draft. */
async function openWritten(): Promise<BookNodes> {
  let nowMs = Date.UTC(2026, 0, 31)
  const cluster = openBookNodes({ nodes: 2, asksChain: true, balances: 'refuse', now: () => msOf(nowMs) })
  const queue = cluster.node(0).queue()
  await queue.submit([tradeDraft('a'), tradeDraft('b')])
  nowMs += 2 * DAY_MS
  await queue.submit([tradeDraft('c')])
  await queue.submit([tradeDraft('d', { tx: 'transaction-d' })])
  await queue.held.drop(['d'], 'not paid')
  await queue.close()
  return cluster
}

/** The row at a place with other content, signed by the log. */
function changed(
  { rows }: BookNodes,
  place: number,
  change: (commit: CommitRow) => Partial<LogRow>,
): Uint8Array {
  const decoded = decodeRow(rows[place - 1]?.bytes ?? ZEROS)
  assert.ok(decoded.ok)
  const { row } = decoded.signed
  assert.ok(row.is === 'commit')
  return encodeRow({ ...row, ...change(row) } as LogRow, TEST_KEY)
}

/** Asserts that an event can be built on the books. Builds it, and undoes it. */
function assertBuilds({ appender, begin, rollback, row }: TableBook): void {
  begin()
  const { seq } = appender.append(
    tradeDraft('own'),
    { ref: 'own', digest: ZEROS },
    msOf(Date.UTC(2026, 5, 1)),
  )
  appender.write()
  const decoded = decodeRow(row() ?? ZEROS)
  assert.ok(decoded.ok && decoded.signed.row.is === 'commit')
  assert.deepEqual([decoded.signed.row.first, decoded.signed.row.lines.length], [seq, 1])
  rollback()
}

suite('a row with', () => {
  for (const [name, place, change, reason] of WRONG_ROWS) {
    test(`${name} stops the node at its place, and leaves its books as they were`, async () => {
      using cluster = await openWritten()
      const [one, other] = [cluster.node(0), cluster.node(1)]
      cluster.follow(1, place - 2)
      const before = other.book().applied()
      const wrong = { place, bytes: changed(cluster, place, change) }
      assert.throws(() => other.book().apply([wrong]), faultWith(place, reason))
      assert.deepEqual(other.book().applied(), before)
      assertBuilds(other.book())
      cluster.follow(1)
      assertSameTables(one.db(), other.db())
    })
  }

  test('any fault leaves nothing of the rows before it in the same transaction', async () => {
    using cluster = await openWritten()
    const { book, db } = cluster.node(1)
    const wrong = { place: 4, bytes: changed(cluster, 4, () => ({ root: ZEROS })) }
    assert.throws(() => book().apply([...cluster.rows.slice(1, 3), wrong]), faultWith(4, /root/))
    assert.deepEqual([book().applied().place, book().appender.head().seq], [1, 0])
    cluster.follow(1)
    assertSameTables(cluster.node(0).db(), db())
  })
})

suite('a row of the right place with any content', () => {
  test('is a fault or fits, and after a fault the books are as they were', async () => {
    using cluster = await openWritten()
    cluster.follow(1)
    const { book, db } = cluster.node(1)
    const { logId } = position(cluster, 2)
    const tables = (): string => JSON.stringify(ROWS.map((table) => rowsOf(db(), table)))
    let faults = 0
    fc.assert(
      fc.property(randomRows, fc.boolean(), (content, fitsEnd) => {
        const { place, digest: prev } = book().applied()
        const first = book().appender.head().seq + 1
        const placed = { ...content, v: 1, logId, place: place + 1, prev } as LogRow
        const row = placed.is === 'commit' && fitsEnd ? { ...placed, first } : placed
        const before = tables()
        try {
          book().apply([{ place: place + 1, bytes: encodeRow(row, TEST_KEY) }])
        } catch (error) {
          assert.ok(error instanceof RowFault, String(error))
          assert.equal(tables(), before)
          faults += 1
        }
      }),
      { numRuns: RUNS },
    )
    assert.ok(faults > RUNS / 2, `${faults} faults`)
  })
})

const ROWS = [
  'events',
  'details',
  'refs',
  'held',
  'settled',
  'vouched',
  'signing_keys',
  'months',
  'messages',
  'meta',
]

function position({ rows }: BookNodes, place: number): LogRow {
  const decoded = decodeRow(rows[place - 1]?.bytes ?? ZEROS)
  assert.ok(decoded.ok)
  return decoded.signed.row
}

suite('a row', () => {
  test('that follows another one is of another branch, if a key of the log signed it', async () => {
    using cluster = await openWritten()
    const book = cluster.node(1).book()
    const row = { ...position(cluster, 2), prev: ZEROS }
    for (const [key, isOfOtherBranch] of [
      [TEST_KEY, true],
      [OTHER_KEY, false],
    ] as const) {
      const bytes = encodeRow(row, key)
      assert.throws(() => book.apply([{ place: 2, bytes }]), { name: 'RowFault', isOfOtherBranch })
    }
  })

  test('after a gap stops the node', async () => {
    using cluster = await openWritten()
    const [, , third] = cluster.rows
    assert.ok(third !== undefined)
    assert.throws(
      () => cluster.node(1).book().apply([third]),
      faultWith(3, /^it is at place 3, and place 2 is missing$/),
    )
  })

  test('that cannot be decoded, or is of a newer version, stops the node', async () => {
    using cluster = await openWritten()
    const book = cluster.node(1).book()
    const bytes = Buffer.from(cluster.rows[1]?.bytes ?? ZEROS)
    assert.throws(
      () => book.apply([{ place: 2, bytes: bytes.subarray(1) }]),
      faultWith(2, /^it does not begin as a row$/),
    )
    bytes.write('2', 3)
    assert.throws(() => book.apply([{ place: 2, bytes }]), faultWith(2, /^it is of frame version 2$/))
  })

  test('that no key of the log signed stops the node', async () => {
    using cluster = await openWritten()
    const foreign = encodeRow(position(cluster, 2), OTHER_KEY)
    const book = cluster.node(1).book()
    assert.throws(
      () => book.apply([{ place: 2, bytes: foreign }]),
      faultWith(2, /^no key of the log has signed it$/),
    )
  })

  test('that begins a log again stops the node', async () => {
    using cluster = await openWritten()
    const { digest: prev } = cluster.node(1).book().applied()
    const first = position(cluster, 1)
    const again = encodeRow({ ...first, place: 2, prev }, TEST_KEY)
    assert.throws(
      () =>
        cluster
          .node(1)
          .book()
          .apply([{ place: 2, bytes: again }]),
      faultWith(2, /^only the first row begins a log$/),
    )
  })

  test('is kept, so that a node that is ahead of the table can put it back', async () => {
    using cluster = await openWritten()
    cluster.follow(1)
    for (const { book } of cluster.nodes) {
      assert.deepEqual(book().kept(2).map(plain), cluster.rows.slice(1).map(plain))
    }
  })

  test('is null of a commit that changed nothing, and the next commit is built on the same books', async () => {
    using cluster = await openWritten()
    const { book } = cluster.node(0)
    const { appender, held } = book()
    book().begin()
    appender.append(tradeDraft('e'), { ref: 'e', digest: ZEROS }, msOf(0))
    held.hold(tradeDraft('f'), 'f', msOf(0))
    appender.forget()
    held.forget()
    assert.equal(book().row(), null)
    book().rollback()
    await cluster
      .node(0)
      .queue()
      .submit([tradeDraft('g')])
    cluster.follow(1)
    assertSameTables(cluster.node(0).db(), cluster.node(1).db())
  })

  test('that was accepted while the local commit failed is applied like that of another node', async () => {
    using cluster = await openWritten()
    const { book, db } = cluster.node(0)
    book().begin()
    book().appender.append(tradeDraft('e'), { ref: 'e', digest: ZEROS }, msOf(0))
    book().appender.write()
    const bytes = book().row() ?? ZEROS
    book().rollback()
    const accepted = { place: book().applied().place + 1, bytes }
    book().apply([accepted])
    cluster.follow(1)
    cluster.node(1).book().apply([accepted])
    assertSameTables(db(), cluster.node(1).db())
  })

  test('names the signed tree of the committed log while a row is built after a lost one', async () => {
    using cluster = await openWritten()
    const { book } = cluster.node(0)
    cluster.node(0).restart()
    const { appender, begin, checkpoint, rollback } = book()
    const committed = checkpoint()
    for (const ref of ['e', 'f']) {
      begin()
      appender.append(tradeDraft(ref), { ref, digest: ZEROS }, msOf(appender.head().atMs ?? 0))
      appender.write()
      assert.equal(checkpoint(), committed)
      rollback()
      assert.equal(checkpoint(), committed)
    }
  })
})

function plain({ place, bytes }: Readonly<{ place: number; bytes: Uint8Array }>): readonly unknown[] {
  return [place, Buffer.from(bytes).toString('hex')]
}

function faultWith(place: number, reason: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof RowFault, String(error))
    assert.equal(error.place, place)
    assert.match(error.message, reason)
    return true
  }
}
