import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { canonicalQuery } from './link-redirects.ts'

suite('the query of a form', () => {
  test('is unchanged when no form made it', () => {
    for (const raw of ['', 'a', 'from=2026-10-01', 'type=a,b&nonzero=1'])
      assert.equal(canonicalQuery(raw), raw)
  })

  test('loses blank fields, and joins checkboxes of one name to a list', () => {
    assert.equal(canonicalQuery('a=&type=play&b=1&type=burn'), 'type=play,burn&b=1')
    for (const raw of ['q=+', 'q=%20%20', 'q=&sort=']) assert.equal(canonicalQuery(raw), '')
  })

  test('keeps repeated parameters that are not lists, which the API refuses', () => {
    for (const raw of ['bucket=day&bucket=hour', 'from=1&bucket=day&from=2'])
      assert.equal(canonicalQuery(raw), raw)
    assert.equal(canonicalQuery('from=1&to=&type=play&from=2&type=burn'), 'from=1&type=play,burn&from=2')
  })
})
