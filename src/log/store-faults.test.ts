import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { unpackKept } from '../../test/books/kept-store.ts'
import { openDirectory } from '../../test/story/store-run.ts'
import { faultsOfStore } from './store-faults.ts'
import { bytes, number, text } from './store/codec.ts'
import { openForReading, storePath, StoreError } from './store/store.ts'
import { SCHEMA_VERSION } from './store/store-schema.ts'

function faultsOf(path: string): readonly string[] {
  using db = openForReading(path)
  return faultsOfStore(db)
}

/** Changes the definition of a table, index or trigger, as a damaged disk would. */
function redefine(path: string, name: string, column: 'type' | 'sql', from: string, to: string): void {
  using db = new DatabaseSync(path, { defensive: false })
  db.exec('PRAGMA writable_schema = ON')
  const { changes } = db
    .prepare(
      `UPDATE sqlite_schema SET ${column} = replace(${column}, ?, ?) WHERE name = ? AND instr(${column}, ?) > 0`,
    )
    .run(from, to, name, from)
  assert.equal(Number(changes), 1, `${name} has ${from}`)
}

suite('the faults of a store that its lines cannot show', () => {
  test('are none in a new store, and in one that another version made', () => {
    using directory = openDirectory()
    assert.deepEqual(faultsOf(storePath(directory.path)), [])
    using kept = unpackKept(SCHEMA_VERSION)
    assert.deepEqual(faultsOf(storePath(kept.data)), [])
  })

  for (const [name, column, from, to] of [
    ['held_added', 'sql', 'held = held + 1', 'held = held + 3'],
    ['lots_open', 'sql', 'IS NOT NULL', 'IS NULL'],
    ['months', 'sql', 'first_seq', 'First_seq'],
    ['details', 'type', 'table', 'Table'],
  ] as const)
    test(`are another definition of ${name}`, () => {
      using directory = openDirectory()
      const path = storePath(directory.path)
      redefine(path, name, column, from, to)
      const found = faultsOf(path)
      assert.deepEqual(found, [`${JSON.stringify(name)} is not defined in the store as in a new one`])
    })
})

suite('a column of a row', () => {
  test('that holds a value of another type is a damaged store', () => {
    const row = { leaf: 'text', at: null, line: 7 }
    assert.throws(
      () => bytes(row, 'leaf'),
      new StoreError('the store is damaged: the column leaf holds no bytes'),
    )
    assert.throws(
      () => number(row, 'at'),
      new StoreError('the store is damaged: the column at holds no number'),
    )
    assert.throws(
      () => text(row, 'line'),
      new StoreError('the store is damaged: the column line holds no text'),
    )
  })
})
