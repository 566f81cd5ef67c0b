import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { difference } from './json-values.ts'

const TABLE: readonly (readonly [published: unknown, recomputed: unknown, place: string | null])[] = [
  [{ a: 1, b: [2, { c: null }] }, { a: 1, b: [2, { c: null }] }, null],
  [{ a: 1, b: [2, { c: 0 }] }, { a: 1, b: [2, { c: null }] }, 'b[1].c'],
  [{ a: 1 }, { a: '1' }, 'a'],
  [{ a: [1, 2] }, { a: [3, 2] }, 'a[0]'],
  [{ a: [1, 2] }, { a: [1, 2, 3] }, 'a[2]'],
  [{ a: [1, 2, 3] }, { a: [1, 2] }, 'a[2]'],
  [{ a: [] }, { a: {} }, 'a'],
  [{ a: {} }, { a: [] }, 'a'],
  [{ a: null }, { a: { b: 1 } }, 'a'],
  [{}, { a: null }, 'a'],
  [{ a: { b: 1, 'a wallet': 2 } }, { a: { b: 1 } }, 'a, an unknown field'],
  [[], {}, ''],
  [7, {}, ''],
]

suite('the first difference of two answers', () => {
  for (const [published, recomputed, place] of TABLE) {
    const where = place === null ? 'is none' : `is at ${JSON.stringify(place)}`
    test(`${where}: ${JSON.stringify(published)} for ${JSON.stringify(recomputed)}`, () =>
      assert.equal(difference(published, recomputed), place))
  }

  test('is null for equal JSON with keys in any order, else a path', () => {
    const text = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null')
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [one, other] = [text(a), text(b)]
        assert.equal(difference(one, structuredClone(one)), null)
        let same = true
        try {
          assert.deepStrictEqual(one, other)
        } catch {
          same = false
        }
        assert.equal(difference(one, other) === null, same)
      }),
    )
  })
})
