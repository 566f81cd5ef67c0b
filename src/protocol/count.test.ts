import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCount } from './count.ts'

test('a count has its noun in the singular for one, else in the plural', () => {
  assert.deepEqual(
    [0, 1, 2, 1n].map((count) => formatCount(count, 'event')),
    ['0 events', '1 event', '2 events', '1 event'],
  )
  assert.equal(formatCount(2, 'witness vouches', 'witnesses vouch'), '2 witnesses vouch')
})
