import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { partsOf } from './request-form.ts'

suite('the parts of a target', () => {
  for (const [target, name] of [
    ['/a', '/a'],
    ['/a?', '/a'],
    ['/a?&', '/a'],
    ['/a?&&&', '/a'],
    ['/a?x=1', '/a?x=1'],
    ['/a?&x=1', '/a?x=1'],
    ['/a?x=1&', '/a?x=1'],
    ['/a?x=1&&y=2', '/a?x=1&y=2'],
    ['/a?=&x', '/a?=&x'],
    ['/a??x&', '/a??x'],
  ] as const) {
    test(`of ${target} name the answer ${name}`, () => {
      const parts = partsOf(target)
      assert.equal(parts.target, name)
      assert.equal(parts.rawQuery === '' ? parts.path : `${parts.path}?${parts.rawQuery}`, name)
    })
  }

  test('have the pairs that the parser of WHATWG finds, and no others', () => {
    const text = fc.array(fc.constantFrom('&', '&', '=', 'a', 'b', '?', '+')).map((chars) => chars.join(''))
    fc.assert(
      fc.property(text, (query) => {
        const { rawQuery } = partsOf(`/a?${query}`)
        const pairs = rawQuery === '' ? [] : rawQuery.split('&')
        assert.ok(pairs.every((pair) => pair !== ''))
        assert.deepEqual(
          pairs.map((pair) => [...new URLSearchParams(`&${pair}`)][0]),
          [...new URL(`http://a.example/a?${query}`).searchParams],
        )
      }),
    )
  })
})
