import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ENDPOINTS } from './endpoints.ts'
import { ENDPOINT_PATHS, ENDPOINT_QUERIES } from './paths.ts'

suite('the table of endpoints', () => {
  test('has the ids, paths and names of parameters that clients are made from', () => {
    assert.deepEqual(Object.fromEntries(ENDPOINTS.map(({ id, path }) => [id, path])), ENDPOINT_PATHS)
    const names = ENDPOINTS.map(({ id, parameters }) => [id, parameters.map(({ name }) => name)])
    assert.deepEqual(Object.fromEntries(names), ENDPOINT_QUERIES)
  })
})
