import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ENDPOINT_PATHS } from '../paths.ts'
import { ENDPOINT_GROUPS, ENDPOINTS } from './endpoints.ts'

suite('the table of endpoints', () => {
  test('has one row for each path, in one group', () => {
    const rows = ENDPOINT_GROUPS.flatMap(({ rows: group }) => Object.keys(group))
    assert.deepEqual(rows.toSorted(), Object.keys(ENDPOINT_PATHS).toSorted())
  })

  test('says which answers are settled where that depends on the parameters, and only there', () => {
    for (const { id, caching, settled } of ENDPOINTS) {
      assert.equal(settled !== undefined, caching === 'by-range', id)
    }
  })
})
