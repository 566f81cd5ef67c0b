import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { rowsOf } from './book-nodes.ts'
import { tradeDraft } from '../../story/trade-draft.ts'
import { openAudit } from '../../../src/log/audit-store.ts'
import { openForWriting, storePath } from '../../../src/log/store/store.ts'
import { faultAtStart } from '../../../src/log/tree/log-fault.ts'
import type { SigningKey } from '../../../src/log/tree/signer.ts'
import { openSignedTrees } from '../../../src/log/tree/signed-trees.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { newestCheckpoint } from '../../../src/log/tree/ready-log.ts'
import { inTransaction } from '../../../src/log/store/in-transaction.ts'
import type { TableRow } from '../../../src/cluster/table/log-table.ts'
import { createStoreFromRow } from '../../../src/cluster/row/begin-row.ts'
import { enterTable, movedRows } from '../../../src/cluster/book/moved-rows.ts'
import { openTableBook, type TableBook } from '../../../src/cluster/book/table-book.ts'
import { readChainId } from '../../../src/log/held/held-tables.ts'

/** Time of the event that is published after a move. */
const NOW = Date.UTC(2026, 5, 1)

/** Parts that a move does not carry: how often counts of held drafts changed, and the signature of the empty tree. */
const NOT_CARRIED = new Set(['held_counts', 'sqlite_sequence', 'messages', 'meta'])

/** Moves the log of a store to a new one, and asserts that all tables are the same. Returns the number of rows. */
export function assertMoved(db: DatabaseSync, key: SigningKey): number {
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
  appender.write()
  const next = { place: applied().place + 1, bytes: row() ?? assert.fail() }
  commit(next.bytes)
  return next
}

/** Asserts that a node that is killed now starts again, and that its whole log passes an audit. */
function assertStarts(db: DatabaseSync, key: SigningKey): void {
  assert.equal(faultAtStart(db, null, [key]), null)
  const audit = openAudit(db, { mark: () => newestCheckpoint(db), everySignature: true })
  let state = audit()
  while (!state.done) state = audit()
  assert.equal(state.fault, null)
}
