import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { codePoints } from '../../../test/story/code-points.ts'
import { nearest } from './nearest.ts'

const NAMES = ['after', 'before', 'from', 'to', 'type', 'kind', 'contestId', 'nonzero', 'limit']

suite('the nearest name', () => {
  for (const [text, name] of [
    ['contest_id', 'contestId'],
    ['CONTESTID', 'contestId'],
    ['contest', 'contestId'],
    ['type[]', 'type'],
    ['types', 'type'],
    ['limt', 'limit'],
    ['ilmit', 'limit'],
    ['form', 'from'],
    ['After', 'after'],
    ['non-zero', 'nonzero'],
  ] as const)
    test(`of ${text} is ${name}`, () => assert.equal(nearest(text, NAMES), name))

  for (const text of ['', 'x', 'utm_source', '<script>', 'colour', 'a'.repeat(4_000), '到'])
    test(`of ${JSON.stringify(text.slice(0, 20))} is none`, () =>
      assert.equal(nearest(text, NAMES), undefined))

  test('of any text is a name of the list or none', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoints }), (text) => {
        const found = nearest(text, NAMES)
        return found === undefined || NAMES.includes(found)
      }),
    )
  })
})
