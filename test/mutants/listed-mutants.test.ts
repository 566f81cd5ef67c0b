import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { SOURCES } from '../stage/source-tree.ts'
import { LISTED_MUTANTS } from './listed-mutants.ts'

suite('each listed mutant', () => {
  test('replaces a text that its source has once, and names tests that exist', () => {
    assert.ok(LISTED_MUTANTS.length > 100, 'the list is read')
    const files = new Set(SOURCES)
    const wrong = LISTED_MUTANTS.flatMap(({ id, tests }) =>
      tests.length === 0 ? [id] : tests.filter((file) => !files.has(file)),
    )
    assert.deepEqual(wrong, [])
  })

  test('has an id of its own', () => {
    const ids = LISTED_MUTANTS.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
  })
})
