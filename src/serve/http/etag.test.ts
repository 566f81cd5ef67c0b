import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { allows, etagOf, names, weak } from './etag.ts'

suite('If-None-Match', () => {
  const rows: readonly (readonly [string | undefined, boolean])[] = [
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['"b" , W/"a"', true],
    ['*', true],
    [' * ', true],
    ['"b"', false],
    ['a', false],
    ['"a', false],
    ['w/"a"', false],
    ['', false],
    [undefined, false],
  ]
  for (const [sent, match] of rows) {
    test(`${String(sent).slice(0, 20)} ${match ? 'names' : 'does not name'} "a"`, () => {
      assert.equal(names(sent, '"a"'), match)
      assert.equal(names(sent, 'W/"a"'), match)
    })
  }

  test('names a weak ETag by its strong form', () => {
    assert.equal(names('"a"', weak('"a"')), true)
    assert.equal(weak(weak('"a"')), 'W/"a"')
  })
})

suite('If-Match', () => {
  for (const [sent, etag, isAllowed] of [
    [undefined, '"a"', true],
    ['*', '"a"', true],
    [' * ', 'W/"a"', true],
    ['"a"', '"a"', true],
    ['"b" ,"a"', '"a"', true],
    ['"b"', '"a"', false],
    ['W/"a"', '"a"', false],
    ['"a"', 'W/"a"', false],
    ['W/"a"', 'W/"a"', false],
    ['a', '"a"', false],
    ['', '"a"', false],
    ['*, "b"', '"a"', false],
  ] as const) {
    test(`${sent ?? 'absent'} ${isAllowed ? 'allows' : 'does not allow'} ${etag}`, () => {
      assert.equal(allows(sent, etag), isAllowed)
    })
  }
})

test('an ETag of content changes with any byte', () => {
  assert.equal(etagOf('abc'), etagOf(new TextEncoder().encode('abc')))
  assert.notEqual(etagOf('abc'), etagOf('abd'))
  assert.match(etagOf(''), /^"[\w-]+"$/)
})
