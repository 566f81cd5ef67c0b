import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import {
  bytesInBase64,
  countField,
  flagField,
  listField,
  MalformedRow,
  fieldsInJson,
  nullableField,
  hashField,
  textField,
  textInUtf8,
  wordField,
} from './row-json.ts'

const HASH = 'ab'.repeat(32)

suite('a field of a row', () => {
  test('in base64 has one form', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = Buffer.from(bytes).toString('base64')
        assert.deepEqual(Uint8Array.from(bytesInBase64(text, 'field')), bytes)
      }),
    )
    for (const text of ['AA', 'AB==', 'AAA', ' AAAA', 'AAAA\n', 'AA-_', 'AAAA=', null, 7])
      assert.throws(() => bytesInBase64(text, 'field'), MalformedRow, String(text))
  })

  test('is what its reader says, or refused by its name', () => {
    const words = ['one', 'two'] as const
    for (const [read, right, wrong] of [
      [(of, name) => countField(of, name), [0, 1, 2 ** 53 - 1], [-1, 0.5, 2 ** 53, '1', null, undefined]],
      [(of, name) => countField(of, name, 3), [3, 4], [2, 0, -3]],
      [flagField, [true, false], [0, 'true', null, undefined]],
      [textField, ['', 'a'], [1, null, undefined, ['a']]],
      [listField, [[], [1]], [{}, 'a', null, undefined]],
      [(of, name) => wordField(of, name, words), ['one', 'two'], ['three', '', null, undefined]],
      [(of, name) => nullableField(of, name, flagField), [null, true], [undefined, 0]],
      [
        (of, name) => Buffer.from(hashField(of, name)).toString('hex'),
        [HASH],
        [HASH.slice(1), `${HASH}a`, HASH.toUpperCase(), 1],
      ],
    ] as const satisfies readonly (readonly [
      (of: Readonly<Record<string, unknown>>, name: string) => unknown,
      readonly unknown[],
      readonly unknown[],
    ])[]) {
      for (const value of right) assert.deepEqual(read({ field: value }, 'field'), value)
      for (const value of wrong)
        assert.throws(
          () => read({ field: value }, 'field'),
          (error) => error instanceof MalformedRow && error.message.startsWith('field is n'),
        )
    }
  })

  test('is in an object of JSON, and in UTF-8', () => {
    assert.deepEqual(fieldsInJson('{"a":1}', 'head'), { a: 1 })
    for (const text of ['', '{', '1', 'null', '"a"'])
      assert.throws(() => fieldsInJson(text, 'head'), MalformedRow)
    assert.equal(textInUtf8(Buffer.from('täglich'), 'head'), 'täglich')
    assert.equal(textInUtf8(Uint8Array.of(0xef, 0xbb, 0xbf), 'head'), '\u{feff}')
    assert.throws(() => textInUtf8(Uint8Array.of(0xc3), 'head'), MalformedRow)
  })
})
