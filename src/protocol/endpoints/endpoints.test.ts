import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ENDPOINT_PARAMETERS } from './endpoint-parameters.ts'
import { ENDPOINT_GROUPS, ENDPOINT_ROWS } from './endpoint-rows.ts'
import { ENDPOINTS } from './endpoints.ts'
import { ENDPOINT_PATHS } from '../paths.ts'

suite('the table of endpoints', () => {
  test('has one row for each path, in one group', () => {
    const ids = Object.keys(ENDPOINT_PATHS).toSorted()
    assert.deepEqual(Object.keys(ENDPOINT_ROWS).toSorted(), ids)
    assert.deepEqual(ENDPOINT_GROUPS.flatMap(({ rows }) => Object.keys(rows)).toSorted(), ids)
  })

  test('defines no parameter that no row names', () => {
    for (const { id, parameters } of ENDPOINTS) {
      const defined = Object.keys(Reflect.get(ENDPOINT_PARAMETERS, id) ?? {})
      assert.deepEqual(defined.toSorted(), parameters.map(({ name }) => name).toSorted(), id)
    }
  })

  test('says which answers are settled where that depends on the parameters, and only there', () => {
    for (const { id, caching, settled } of ENDPOINTS) {
      assert.equal(settled !== undefined, caching === 'by-range', id)
    }
  })
})
