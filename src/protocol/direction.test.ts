import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { DIRECTION_CONTROL, isolated, undirected } from './direction.ts'

suite('somebody’s words amid our own', () => {
  test('lose what turns round the text beside them', () => {
    assert.equal(undirected('a\u202Eb\u2066c\u2069d\u202A'), 'abcd')
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !DIRECTION_CONTROL.test(undirected(text))))
  })

  test('stand in an isolate where they run from right to left, and stay as they are elsewhere', () => {
    assert.equal(isolated('Autumn round, 第四回'), 'Autumn round, 第四回')
    assert.equal(isolated('סתיו\u202E 42'), '\u2068סתיו 42\u2069')
  })
})
