import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENDPOINTS } from '../../src/protocol/endpoints/endpoints.ts'
import { PAGES } from '../../src/web/pages/pages.ts'

test('an endpoint has a page at its own path exactly when the table of endpoints says so', () => {
  const withPage = ENDPOINTS.filter(({ page }) => page).map(({ id }) => id)
  const shown = PAGES.filter(({ path }) => path === undefined).map(({ endpoint }) => String(endpoint))
  assert.deepEqual(shown.toSorted(), withPage.toSorted())
})
