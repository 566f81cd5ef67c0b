import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openRefFilter } from './import-filter.ts'

suite('the filter of refs', () => {
  test('never takes an old ref for a new one, and none of half a million new refs for an old one', () => {
    const filter = openRefFilter()
    const refs = Array.from({ length: 250_000 }, (_, index) => [
      `sim-${String(index).padStart(8, '0')}`,
      String(index),
    ])
    assert.ok(refs.flat().every((ref) => filter.isNew(ref)))
    assert.ok(refs.flat().every((ref) => !filter.isNew(ref)))
  })
})
