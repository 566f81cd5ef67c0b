import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { after, before, suite, test } from 'node:test'
import { flip, NEW_LOG, openFolder } from '../../test/story/damaged-log.ts'
import { TEST_KEY } from '../../test/story/signing.ts'
import { exampleLine } from '../../test/tlog/example.ts'
import { formatEntry } from '../tlog/entries.ts'
import { appendLeaf, emptyFrontier, rootOf } from '../tlog/frontier.ts'
import { type AuditState, openAudit } from './audit-store.ts'
import { changeKeys } from './tree/ready-log.ts'
import { openSigner } from './tree/signer.ts'
import { createStore, openForWriting, storePath } from './store/store.ts'
import { HASHER } from './tree/stored-tree.ts'

/** More events than 65,536, so that the tree has three levels of tiles. */
const EVENTS = 66_100
const COMMIT_EVENTS = 1_000
const SLICE_EVENTS = 256

/** Writes events with their tree and a signature each thousand, without books. */
function fill(db: DatabaseSync): void {
  changeKeys(db, { keys: [TEST_KEY], acceptNewKey: false })
  const insert = db.prepare(
    'INSERT INTO events (seq, at, code, nonzero, line, leaf, signature) VALUES (?, ?, 1, 1, ?, ?, ?)',
  )
  const above = db.prepare('INSERT INTO tree_hashes (level, n, hash) VALUES (?, ?, ?)')
  const signer = openSigner(NEW_LOG.origin, [TEST_KEY])
  const frontier = emptyFrontier()
  db.exec('BEGIN')
  for (let seq = 1; seq <= EVENTS; seq += 1) {
    const line = exampleLine(seq - 1)
    const leaf = HASHER.leaf(formatEntry(line, null))
    for (const { level, index, hash } of appendLeaf(HASHER, frontier, leaf)) above.run(level, index, hash)
    const ends = seq % COMMIT_EVENTS === 0 || seq === EVENTS
    const signed = ends ? signer.sign({ size: seq, root: rootOf(HASHER, frontier) }).signature : null
    insert.run(seq, seq, line, leaf, signed)
  }
  db.exec('COMMIT')
}

suite('the audit of a log with three levels of tiles', () => {
  const folder = openFolder()
  let db: DatabaseSync
  before(() => {
    createStore(storePath(folder.data), NEW_LOG)
    db = openForWriting(storePath(folder.data))
    fill(db)
  })
  after(() => {
    db.close()
    folder[Symbol.dispose]()
  })

  /** Every state of an audit to its end or its first fault. */
  function states(everySignature: boolean): readonly AuditState[] {
    const next = openAudit(db, { mark: () => null, everySignature })
    const seen = [next()]
    while (seen.at(-1)?.done === false && seen.at(-1)?.fault === null) seen.push(next())
    return seen
  }

  /** The fault that an audit finds after the statement `sql`. Runs `undo` afterwards. */
  function found(sql: string, undo: string): string {
    db.exec('CREATE TEMP TABLE kept AS SELECT * FROM tree_hashes WHERE level = 2 OR n IN (117, 200)')
    db.exec('CREATE TEMP TABLE event AS SELECT * FROM events WHERE seq = 30000')
    try {
      db.exec(sql)
      const fault = states(false).at(-1)?.fault
      return `seq ${fault?.seq}: ${fault?.reason}`
    } finally {
      db.exec(
        `${undo}; INSERT OR REPLACE INTO tree_hashes SELECT * FROM kept; DROP TABLE kept; DROP TABLE event`,
      )
    }
  }

  test('hashes every event, a slice at a time, and finds no fault', () => {
    const seen = states(true)
    assert.equal(seen.length, Math.floor(EVENTS / SLICE_EVENTS) + 1)
    for (const [index, { checked, events, fault }] of seen.entries()) {
      assert.equal(checked, Math.min((index + 1) * SLICE_EVENTS, EVENTS))
      assert.deepEqual([events, fault], [EVENTS, null])
    }
  })

  test('finds a damaged hash of level 1, and names the seqs under it', () => {
    const damage = 'UPDATE tree_hashes SET hash = zeroblob(32) WHERE level = 1 AND n = 200'
    // Its seqs are 51,201 to 51,456. No signature lies between them.
    assert.equal(
      found(damage, 'SELECT 1'),
      'seq 51201: the stored tree is not that of the events, somewhere up to seq 51456',
    )
  })

  test('finds a damaged or missing hash of level 2, and names the seqs that no signature below it covers', () => {
    for (const damage of [
      'UPDATE tree_hashes SET hash = zeroblob(31) WHERE level = 2',
      'DELETE FROM tree_hashes WHERE level = 2',
    ]) {
      assert.equal(
        found(damage, 'SELECT 1'),
        'seq 65001: the stored tree is not that of the events, somewhere up to seq 65536',
      )
    }
  })

  test('finds the commit of an event that was changed with its leaf and level 1 but not level 2', () => {
    const line = exampleLine(29_999).replace('"at":"2025', '"at":"2024')
    const leaves = db
      .prepare('SELECT leaf FROM events WHERE seq > ? AND seq <= ? ORDER BY seq')
      .all(117 * 256, 118 * 256)
    const frontier = emptyFrontier()
    let level1 = ''
    for (const [index, { leaf }] of leaves.entries()) {
      const isChanged = 117 * 256 + index + 1 === 30_000
      const hash = isChanged ? HASHER.leaf(formatEntry(line, null)) : (leaf as Uint8Array)
      const [completed] = appendLeaf(HASHER, frontier, hash)
      if (completed !== undefined) level1 = Buffer.from(completed.hash).toString('hex')
    }
    const leaf = Buffer.from(HASHER.leaf(formatEntry(line, null))).toString('hex')
    const damage = `UPDATE events SET line = '${line}', leaf = x'${leaf}' WHERE seq = 30000;
      UPDATE tree_hashes SET hash = x'${level1}' WHERE level = 1 AND n = 117`
    assert.equal(
      found(damage, 'INSERT OR REPLACE INTO events SELECT * FROM event'),
      'seq 29001: the stored tree is not that of the events, somewhere up to seq 30000',
    )
  })

  test('finds a flipped bit in an old signature when it verifies every signature', () => {
    const kept = db.prepare('SELECT signature FROM events WHERE seq = 2000').get()?.[
      'signature'
    ] as Uint8Array
    flip(db, 'events', 'signature', 'seq = 2000')
    try {
      assert.equal(states(true).at(-1)?.fault?.seq, 1_001)
    } finally {
      db.prepare('UPDATE events SET signature = ? WHERE seq = 2000').run(kept)
    }
  })
})
