import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  beginWith,
  listedKey,
  openWrittenLog,
  rowAfter,
  rowIn,
} from '../../../test/cluster/row/written-log.ts'
import { OTHER_KEY } from '../../../test/story/signing.ts'
import type { DatabaseSync } from 'node:sqlite'
import { beginOf } from './begin-row.ts'
import { compareRows, faultOfKeptRows } from './compare-rows.ts'
import { clearTablePlace, openKeptRows, writeTablePlace } from './kept-rows.ts'
import { digestOfRow } from './row-frame.ts'
import { openRowChain } from './row-chain.ts'

/** Compares a store with the rows of a table from a place on. Returns the first fault, or the sentences at the end. */
function compared(db: DatabaseSync, rows: readonly Uint8Array[], from = 1): readonly string[] {
  const comparison = compareRows(db)
  const chain = openRowChain({ treeAt: (size) => comparison.treeAt(size), known: beginOf(db) })
  for (const [index, bytes] of rows.entries()) {
    const place = from + index
    const added = chain.add(place, bytes)
    const fault = added.fault ?? comparison.faultOf(place, bytes, added.row)
    if (fault !== null) return [`place ${place}: ${fault}`]
  }
  return [...comparison.end(chain.end()), ...comparison.notices(chain.end())]
}

/** Result of a function while the store has a damage. */
function damaged<Result>(db: DatabaseSync, sql: string, read: () => Result): Result {
  db.exec(`SAVEPOINT damage; ${sql}`)
  try {
    return read()
  } finally {
    db.exec('ROLLBACK TO damage; RELEASE damage')
  }
}

suite('a store and the rows of its table', () => {
  test('are the same, from the first place or a later one, and the store may be behind', () => {
    using log = openWrittenLog(['a', 'b', 'c'])
    for (const from of [1, 2, 4]) assert.deepEqual(compared(log.db, log.rows.slice(from - 1), from), [])
    using ahead = openWrittenLog(['a', 'b', 'c', 'd', 'e'])
    assert.deepEqual(compared(log.db, ahead.rows), ['the store is 2 events behind the table'])
    assert.deepEqual(compared(log.db, ahead.rows.slice(4), 5), ['the store is 2 events behind the table'])
    assert.deepEqual(compared(log.db, ahead.rows.slice(5), 6), [
      'the table begins at place 6, and the store ends at place 4: restore a newer backup of a node',
      'the store is 2 events behind the table',
    ])
  })

  test('differ when the table has lost rows', () => {
    using log = openWrittenLog(['a', 'b', 'c'])
    assert.deepEqual(compared(log.db, log.rows.slice(0, 3)), [
      'the table ends at place 3, and the store at place 4: start this node, and it puts the missing rows back',
    ])
  })

  for (const [sql, reason] of [
    ["UPDATE events SET line = line || ' ' WHERE seq = 2", 'place 3: the store has another event as seq 2'],
    ["UPDATE events SET line = '{}' WHERE seq = 3", 'place 4: the store has another event as seq 3'],
    ["INSERT INTO details VALUES (2, '{}')", 'place 3: the store has another event as seq 2'],
    ["UPDATE messages SET bytes = x'00' WHERE place = 4", 'place 4: the store keeps another row'],
    [
      `UPDATE meta SET value = '${'0'.repeat(64)}' WHERE key = 'table_digest'`,
      'place 4: the store names another row',
    ],
    ["UPDATE meta SET value = '3' WHERE key = 'table_place'", 'place 3: the store names another row'],
  ] as const) {
    test(`differ after ${sql.replaceAll(/'0{9,}'/g, 'zeros')}`, () => {
      using log = openWrittenLog(['a', 'b', 'c'])
      assert.deepEqual(
        damaged(log.db, sql, () => compared(log.db, log.rows)),
        [reason],
      )
      assert.deepEqual(compared(log.db, log.rows), [])
    })
  }

  test('differ when the table has another log, or one with a key that the store does not know', () => {
    using log = openWrittenLog(['a'])
    const { faultOf } = compareRows(log.db)
    const first = rowIn(log.rows[0])
    assert.equal(
      faultOf(9, new Uint8Array(0), { ...first, logId: 'f'.repeat(32) }),
      'it is of another log than that of the store',
    )
    const begin = beginWith([listedKey(OTHER_KEY)])
    assert.equal(
      faultOf(1, rowAfter(undefined, 1, begin), { ...first, ...begin }),
      'it lists a key that the store does not know',
    )
  })
})

suite('the kept rows of a store', () => {
  test('are checked: each follows the one before it, and the newest is the one that the store names', () => {
    using log = openWrittenLog(['a', 'b', 'c'])
    for (const [sql, fault] of [
      ['', null],
      ['DELETE FROM messages WHERE place < 3', null],
      ['UPDATE messages SET bytes = substr(bytes, 2) WHERE place = 3', /place 3 cannot be read/],
      ['DELETE FROM messages WHERE place = 3', /place 4 does not follow the one before it/],
      ['UPDATE messages SET place = 9 WHERE place = 4', /place 9 is not of this log/],
      ['DELETE FROM messages WHERE place = 4', /the newest is not the row at place 4/],
      ['DELETE FROM messages', /the newest is not the row at place 4/],
      ["UPDATE meta SET value = '5' WHERE key = 'table_place'", /the newest is not the row at place 5/],
    ] as const) {
      const found = damaged(log.db, sql, () => faultOfKeptRows(log.db))
      if (fault === null) assert.equal(found, null, sql)
      else assert.match(found ?? '', fault, sql)
    }
    const [, , , fourth = assert.fail()] = log.rows
    const gap = rowAfter(fourth, 6, {
      is: 'end',
      head: 3,
      root: new Uint8Array(32),
      nonce: new Uint8Array(32),
    })
    const found = damaged(log.db, '', () => {
      openKeptRows(log.db).add({ place: 6, bytes: gap })
      writeTablePlace(log.db, { place: 6, digest: digestOfRow(gap) })
      return faultOfKeptRows(log.db)
    })
    assert.match(found ?? '', /place 6 does not follow the one before it/)
    clearTablePlace(log.db)
    assert.equal(faultOfKeptRows(log.db), null, 'the log is on no table')
  })
})
