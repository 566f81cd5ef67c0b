import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { preferredType } from './accept.ts'

const TYPES = ['application/json', 'text/csv'] as const

suite('the preferred media type', () => {
  for (const [accept, type] of [
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/csv', 'text/csv'],
    ['TEXT/CSV', 'text/csv'],
    ['text/csv;header=present', 'text/csv'],
    ['text/*', 'text/csv'],
    ['application/*', 'application/json'],
    // The same weight: the more exact range, then our own order.
    ['text/csv, */*', 'text/csv'],
    ['text/*, */*', 'text/csv'],
    ['text/csv, application/json', 'application/json'],
    ['application/json, text/csv', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['text/csv;q=0.5, application/json;q=0.4', 'text/csv'],
    ['text/csv;q=0.5, */*;q=0.8', 'application/json'],
    ['text/csv; Q=0.9 , application/json ;q=0.8', 'text/csv'],
    // The most exact range decides.
    ['text/csv;q=0, text/*', 'application/json'],
    ['*/*, application/json;q=0', 'text/csv'],
    ['*/*;q=0.1, application/*;q=0', 'text/csv'],
    // None is acceptable.
    ['image/png', 'application/json'],
    ['*/*;q=0', 'application/json'],
    ['text/csv;q=0', 'application/json'],
    ['text/csv;q=x', 'application/json'],
    ['text/csv;q=1.001', 'application/json'],
    // A browser, and what opens images for it.
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', 'application/json'],
    ['text/csv,application/vnd.ms-excel;q=0.9,*/*;q=0.8', 'text/csv'],
  ] as const) {
    test(`of ${JSON.stringify(accept) ?? 'no Accept'} is ${type}`, () => {
      assert.equal(preferredType(accept, TYPES), type)
    })
  }

  test('is one that is offered, for any header', () => {
    const part = fc.constantFrom(
      'text/csv',
      '*/*',
      'text/*',
      'application/json',
      ';',
      ',',
      'q=',
      '0',
      '1',
      '.',
      ' ',
      'x',
    )
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        assert.ok(TYPES.includes(preferredType(parts.join(''), TYPES)))
      }),
    )
  })
})
