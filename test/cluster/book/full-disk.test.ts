import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { TableRow } from '../../../src/cluster/table/log-table.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { tradeDraft } from '../../story/trade-draft.ts'
import { assertSameTables, type BookNodes, openBookNodes } from './book-nodes.ts'
import { setDiskFull } from './full-disk.ts'

const ZEROS = new Uint8Array(32)

/** Two nodes; the first has written three events. */
async function openWritten(): Promise<BookNodes> {
  const now = () => msOf(Date.UTC(2026, 0, 31))
  const cluster = openBookNodes({ nodes: 2, asksChain: false, balances: 'refuse', now })
  const queue = cluster.node(0).queue()
  await queue.submit([tradeDraft('a'), tradeDraft('b')])
  await queue.submit([tradeDraft('c')])
  await queue.close()
  return cluster
}

suite('a full disk', () => {
  /** Bytes that need a further page of the store. */
  const long = 'x'.repeat(120)

  test('at the commit of a row that the table has leaves the books as they were, and the row is applied later', async () => {
    using cluster = await openWritten()
    const { book, db } = cluster.node(0)
    const before = book().applied()
    book().begin()
    for (let index = 0; index < 100; index += 1)
      book().appender.append(
        tradeDraft(`${long}${index}`),
        { ref: `${long}${index}`, digest: ZEROS },
        msOf(0),
      )
    book().appender.write()
    const bytes = book().row() ?? ZEROS
    setDiskFull(db(), true)
    assert.throws(() => book().commit(bytes), { errcode: 13 })
    book().rollback()
    assert.deepEqual([book().applied(), book().appender.head().seq], [before, 3])
    assert.deepEqual(book().kept(1).map(bytesOf), cluster.rows.map(bytesOf))
    setDiskFull(db(), false)
    cluster.append({ place: before.place + 1, bytes })
    for (const index of cluster.nodes.keys()) cluster.follow(index)
    assertSameTables(db(), cluster.node(1).db())
  })

  test('is no fault of the row that it does not take, and the books are as they were', async () => {
    using cluster = await openWritten()
    const { book, db } = cluster.node(1)
    const before = book().applied()
    setDiskFull(db(), true)
    assert.throws(() => book().apply(cluster.rows.slice(1)), { errcode: 13 })
    assert.deepEqual([book().applied(), book().appender.head().seq, db().isTransaction], [before, 0, false])
    setDiskFull(db(), false)
    cluster.follow(1)
    assertSameTables(cluster.node(0).db(), db())
  })
})

function bytesOf({ bytes }: TableRow): Buffer {
  return Buffer.from(bytes)
}
