import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { keptSchemas, unpackKept } from '../../../test/books/kept-store.ts'
import { moved, PAYING } from '../../../test/held/held-drafts.ts'
import { CHAIN, openHeldStage } from '../../../test/held/held-stage.ts'
import { openBookNodes, rowsOf } from '../../../test/cluster/book/book-nodes.ts'
import { randomOutput } from '../../../test/story/random-output.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { readChainId } from '../../log/held/chain-id.ts'
import { openAudit } from '../../log/audit-store.ts'
import { newLogId, openForWriting, readIdentity, storePath, writeIdentity } from '../../log/store/store.ts'
import { faultAtStart, headOf } from '../../log/tree/log-fault.ts'
import { listKeys } from '../../log/tree/signing-keys.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { openSignedTrees } from '../../log/tree/signed-trees.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { Month } from '../../protocol/moment.ts'
import { msOf } from '../../protocol/moment.ts'
import { newestCheckpoint, signNewest } from '../../log/tree/ready-log.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { readTablePlace } from '../row/table-position.ts'
import type { TableRow } from '../table/log-table.ts'
import { createStoreFromRow } from '../row/begin-row.ts'
import { enterTable, leaveTable, movedRows } from './moved-rows.ts'
import type { TableBook } from './table-book.ts'
import { openTableBook } from './table-book.ts'

const NOW = Date.UTC(2026, 5, 1)

/** Parts that a move does not carry: how often counts of held drafts changed, and the signature of the empty tree. */
const NOT_CARRIED = new Set(['held_counts', 'sqlite_sequence', 'messages', 'meta'])

/** Moves the log of a store to a new one, and asserts that all tables are the same. Returns the number of rows. */
function assertMoved(db: DatabaseSync, key: SigningKey): number {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-moved-'))
  const path = storePath(directory)
  const rows = [...movedRows(db, key)]
  createStoreFromRow(path, rows[0]?.bytes ?? new Uint8Array(0), [key])
  const other = openForWriting(path)
  try {
    let book = openTableBook({ db: other, keys: [key], asksChain: true })
    assert.equal(book.checkpoint(), newestCheckpoint(other).checkpoint)
    for (let at = 1; at < rows.length; at = book.applied().place) {
      const wrong = { place: at + 2, bytes: new Uint8Array(9) }
      assert.throws(() => book.apply([...rows.slice(at, at + 1), wrong]), { name: 'RowFault', place: at + 2 })
      book.apply(rows.slice(at, at + (at < 12 ? 1 + (at % 3) : 16)))
      assert.equal(book.checkpoint(), newestCheckpoint(other).checkpoint)
      assertStarts(other, key)
      book = openTableBook({ db: other, keys: [key], asksChain: true })
    }
    assertCarried(db, other)
    assert.equal(faultAtStart(other, null), null)
    assert.equal(readChainId(other), readChainId(db))
    assert.equal(openSignedTrees(other).firstWrong(), null)
    const newest = rows.at(-1)
    assert.ok(newest !== undefined)
    inTransaction(db, () => enterTable(db, newest, [key]))
    const mover = openTableBook({ db, keys: [key], asksChain: true })
    assert.deepEqual(mover.applied(), book.applied())
    book.apply([publish(mover)])
    assertCarried(db, other)
    return rows.length
  } finally {
    other.close()
    rmSync(directory, { recursive: true })
  }
}

function assertCarried(from: DatabaseSync, to: DatabaseSync): void {
  const tables = from.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all()
  for (const { name } of tables) {
    if (!NOT_CARRIED.has(String(name)))
      assert.deepEqual(rowsOf(to, String(name)), rowsOf(from, String(name)), String(name))
  }
}

/** Publishes an event. Returns its row. */
function publish({ appender, applied, begin, commit, row }: TableBook): TableRow {
  begin()
  appender.append(tradeDraft('next'), { ref: 'next', digest: new Uint8Array(16) }, msOf(NOW))
  appender.keep()
  const next = { place: applied().place + 1, bytes: row() ?? assert.fail() }
  commit(next.bytes)
  return next
}

/** A draft with details of random text, of which a segment nearly fills a row. */
function shortOutput(ref: string): Draft {
  const url = `https://daybook.test/${randomBytes(870).toString('base64url')}`
  const details = { month: '2026-05' as Month, digest: `sha256:${'0'.repeat(64)}`, recipients: 1, url }
  return { ...randomOutput(ref), details }
}

/** Begins another log with the events of this one, as after an accepted loss. */
function continueLost(db: DatabaseSync, key: SigningKey): void {
  const identity = readIdentity(db)
  const { id, origin } = identity
  const size = headOf(db)
  const next = { ...identity, id: newLogId(), origin: `${origin}/01234567`, former: [{ id, origin, size }] }
  db.exec('BEGIN IMMEDIATE')
  writeIdentity(db, next)
  listKeys(db, { origin: next.origin, size, keys: [key], acceptNewKey: true })
  signNewest(db, [key])
  db.exec('COMMIT')
}

/** Asserts that a node that is killed now starts again, and that its whole log passes an audit. */
function assertStarts(db: DatabaseSync, key: SigningKey): void {
  assert.equal(faultAtStart(db, null, [key]), null)
  const audit = openAudit(db, { mark: () => newestCheckpoint(db), everySignature: true })
  let state = audit()
  while (!state.done) state = audit()
  assert.equal(state.fault, null)
}

suite('a log that is moved to a table', () => {
  test('keeps every line, signature, segment and note, also of former keys and of a former log', () => {
    const newest = keptSchemas().at(-1)
    assert.ok(newest !== undefined)
    using kept = unpackKept(newest)
    const db = openForWriting(storePath(kept.data))
    try {
      const [key = TEST_KEY] = kept.keys
      continueLost(db, key)
      assert.ok(assertMoved(db, key) > 3)
    } finally {
      db.close()
    }
  })

  test('keeps a segment that no row holds, of a log that was on a table before', async () => {
    using cluster = openBookNodes({ nodes: 1, asksChain: false, balances: 'report', now: () => msOf(NOW) })
    const { queue, db } = cluster.node(0)
    for (let at = 0; at < 4_100; at += 1_025) {
      const drafts = Array.from({ length: 1_025 }, (_, index) => randomOutput(`${at + index}`))
      assert.ok((await queue().submit(drafts)).ok)
    }
    assert.ok(assertMoved(db(), TEST_KEY) > 3)
  })

  test('keeps drafts that are held, failed or dropped, and the word of the operator', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, moved('won', 'prize/winner', '10'))
    for (const ref of ['a', 'b', 'c', 'd', 'e'])
      await stage.send(moved(ref, 'payout/winner', '1', { tx: ref }))
    await stage.settle(['a'], 'failed')
    await stage.settle(['b'], 'excess')
    await stage.queue().held.vouch(['c'], 'seen on the chain')
    await stage.queue().held.drop(['d'], 'sent twice')
    const db = openForWriting(stage.path)
    try {
      assert.equal(assertMoved(db, TEST_KEY), 3)
      assert.equal(readChainId(db), CHAIN)
      inTransaction(db, () => leaveTable(db))
      assert.equal(readTablePlace(db), null)
      assert.equal([...movedRows(db, TEST_KEY)].length, 3, 'it can be moved again')
    } finally {
      db.close()
    }
  })

  test('keeps a compressed segment that leaves little room in its row', async () => {
    using cluster = openBookNodes({ nodes: 1, asksChain: false, balances: 'report', now: () => msOf(NOW) })
    const { queue, db } = cluster.node(0)
    const send = async (from: number, to: number): Promise<void> => {
      const drafts = Array.from({ length: to - from }, (_, index) => shortOutput(`${from + index}`))
      assert.ok((await queue().submit(drafts)).ok)
    }
    for (let at = 0; at < 4_095; at += 1_365) await send(at, at + 1_365)
    await send(4_095, 4_096)
    const [size] = db().prepare('SELECT max(length(bytes)) AS bytes FROM segments').all()
    const bytes = Number(size?.['bytes'])
    assert.ok(bytes > 3.25 * 1024 * 1024 && bytes < 4 * 1024 * 1024, `${bytes} bytes`)
    assert.ok(assertMoved(db(), TEST_KEY) > 3)
  })
})
