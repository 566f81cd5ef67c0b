import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { keptSchemas, unpackKept } from '../../../test/books/kept-store.ts'
import { moved, PAYING } from '../../../test/held/held-drafts.ts'
import { CHAIN, openHeldStage } from '../../../test/held/held-stage.ts'
import { assertMoved } from '../../../test/cluster/book/moved-log.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import { newLogId, openForWriting, readIdentity, storePath, writeIdentity } from '../../log/store/store.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import { listKeys } from '../../log/tree/signing-keys.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { signNewest } from '../../log/tree/ready-log.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { leaveTable, movedRows } from './moved-rows.ts'
import { readTablePlace } from '../row/kept-rows.ts'
import { readChainId } from '../../log/held/held-tables.ts'

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
})
