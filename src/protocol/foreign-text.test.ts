import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { codePoints } from '../../test/story/code-points.ts'
import { DIRECTION_CONTROL, isolateDirection, removeDirection } from './foreign-text.ts'

suite('foreign text', () => {
  test('loses its direction controls', () => {
    assert.equal(removeDirection('a\u202Eb\u2066c\u2069d\u202A'), 'abcd')
    fc.assert(
      fc.property(fc.string({ unit: codePoints }), (text) => !DIRECTION_CONTROL.test(removeDirection(text))),
    )
  })

  test('is isolated when it runs from right to left, and unchanged otherwise', () => {
    assert.equal(isolateDirection('Autumn round, 第四回'), 'Autumn round, 第四回')
    assert.equal(isolateDirection('סתיו\u202E 42'), '\u2068סתיו 42\u2069')
  })
})
