import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ENDPOINTS } from './endpoints.ts'
import { ENDPOINT_PATHS } from './paths.ts'

suite('the table of endpoints', () => {
  test('and the table of paths name the same endpoints, paths and parameters', () => {
    const rows = ENDPOINTS.map(({ id, path, parameters }) => [
      id,
      { path, query: parameters.map(({ name }) => name) },
    ])
    assert.deepEqual(Object.fromEntries(rows), ENDPOINT_PATHS)
  })
})
