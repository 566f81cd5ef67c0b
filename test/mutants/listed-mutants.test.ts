import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { SOURCES } from '../stage/source-tree.ts'
import { LISTED_MUTANTS } from './listed-mutants.ts'
import { locate } from './mutant.ts'

suite('each listed mutant', () => {
  test('replaces a text that its source has once, and names tests that exist', () => {
    const files = new Set(SOURCES)
    const wrong = LISTED_MUTANTS.flatMap((row) => {
      try {
        locate(row)
      } catch (error) {
        return [(error as Error).message]
      }
      const missing = row.tests.filter((file) => !files.has(file))
      return row.tests.length === 0 || missing.length > 0 ? [`${row.id}: no test ${missing.join(', ')}`] : []
    })
    assert.deepEqual(wrong, [])
  })

  test('has an id of its own', () => {
    const ids = LISTED_MUTANTS.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
  })
})
