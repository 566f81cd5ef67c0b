import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { codePoints } from '../../../test/story/code-points.ts'
import { parseLine } from './draft-json.ts'

const refusals: readonly (readonly [name: string, text: string, reason: RegExp])[] = [
  ['an empty line', '', /^is not JSON \(at character 1, its end\)$/],
  ['a line that breaks off', '{"a":', /^is not JSON \(at character 6, its end\)$/],
  ['a trailing comma', '{"a":1,}', /^is not JSON \(at character 8\)$/],
  ['a byte order mark', '\ufeff{}', /^is not JSON/],
  ['single quotes', "{'a':1}", /^is not JSON \(at character 2\)$/],
  ['NaN', '{"a":NaN}', /^is not JSON/],
  ['hexadecimal', '{"a":0x1}', /^is not JSON/],
  ['a raw control character', '{"a":"\u0000"}', /^is not JSON/],
  ['two values', '{}{}', /^is not JSON/],
  ['a key twice', '{"a":1,"a":2}', /^has the same key twice in one object$/],
  ['a key twice, once escaped', '{"a":1,"\\u0061":2}', /^has the same key twice/],
  ['a key twice further down', '{"d":{"a":1,"a":1},"b":2}', /^has the same key twice/],
  ['__proto__ twice', '{"__proto__":1,"__proto__":2}', /^has the same key twice/],
  ['an exponent', '{"contestId":1e3}', /^has a number with a point or an exponent/],
  ['a big exponent', '{"contestId":1E400}', /^has a number with a point/],
  ['a decimal that is whole', '{"contestId":1.0}', /^has a number with a point/],
  ['a decimal below one', '{"contestId":0.5}', /^has a number with a point/],
  ['an exponent after a nine', '{"contestId":9e1}', /^has a number with a point/],
  ['a decimal that would be rounded', '{"contestId":4503599627370497.5}', /^has a number with a point/],
  ['a name without quotes', '{"a":each}', /^is not JSON/],
  ['five levels', '{"a":{"a":{"a":{"a":{}}}}}', /^is nested deeper than 4 levels$/],
  ['a million levels', '['.repeat(60_000), /^is nested deeper than 4 levels$/],
  ['64 KiB and one byte', `"${'a'.repeat(65_535)}"`, /^is longer than 65536 bytes$/],
  ['64 KiB and one byte of two-byte letters', `"${'é'.repeat(32_767)}a"`, /^is longer than 65536 bytes$/],
]

suite('a line of JSON', () => {
  for (const [name, text, reason] of refusals) {
    test(`is refused with ${name}`, () => {
      const line = parseLine(text)
      assert.ok(!line.ok)
      assert.match(line.reason, reason)
    })
  }

  const accepted = [
    '{}',
    ' {"a" : [true, false, null, -1, 0] } ',
    '{"a":{"a":{"a":{}}}}',
    '{"a":"1.5e3 {[\\"a\\":\\\\"}',
    '{"a":1,"b":{"a":1}}',
    `"${'a'.repeat(65_534)}"`,
    '[1,[2],{"a":1}]',
  ]
  for (const text of accepted) {
    test(`is read as JSON says: ${text.slice(0, 40)}`, () =>
      assert.deepEqual(parseLine(text), { ok: true, value: JSON.parse(text) }))
  }

  test('equals JSON.parse for any value of plain integers within four levels', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.oneof(fc.maxSafeInteger(), fc.string({ unit: codePoints }), fc.boolean(), fc.constant(null)),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('any'), { maxKeys: 4 }),
      ),
    })).any
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (each, indent) => {
        const text = JSON.stringify(each, null, indent)
        assert.deepEqual(parseLine(text), { ok: true, value: JSON.parse(text) })
      }),
    )
  })

  test('is parsed or refused without an exception for any text, and a refusal repeats none of it', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '\\',
      '1',
      '.',
      'e',
      'QZX',
      ' at position 7',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (each) => {
        const line = parseLine(each.join(''))
        assert.ok(line.ok || (!line.reason.includes('QZX') && !line.reason.includes('at position')))
      }),
      { numRuns: 5_000 },
    )
  })

  test('cannot change a prototype', () => {
    const line = parseLine('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')
    assert.ok(line.ok)
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })
})
