import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { allowsRange, type ByteRange, parseByteRange } from './byte-range.ts'

const TABLE: readonly (readonly [string, ByteRange | undefined])[] = [
  ['bytes=0-0', { from: 0, to: 1 }],
  ['bytes=10-19', { from: 10, to: 20 }],
  ['bytes=10-', { from: 10, to: 100 }],
  ['bytes=-10', { from: 90, to: 100 }],
  ['bytes=-1000', { from: 0, to: 100 }],
  ['bytes=99-1000', { from: 99, to: 100 }],
  ['bytes=40-9223372036854775807', { from: 40, to: 100 }],
  ['bytes=-9223372036854775807', { from: 0, to: 100 }],
  [`bytes=0-${'9'.repeat(40)}`, { from: 0, to: 100 }],
  ['bytes=9223372036854775807-', 'unsatisfiable'],
  ['Bytes=1-2', { from: 1, to: 3 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=100-200', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=20-10', undefined],
  ['bytes=0-1,5-6', undefined],
  ['bytes=-', undefined],
  ['bytes=a-b', undefined],
  ['bytes=1.5-2', undefined],
  ['lines=0-1', undefined],
  ['0-1', undefined],
  ['', undefined],
]

suite('a range of a file of 100 bytes', () => {
  for (const [header, range] of TABLE) {
    const outcome =
      typeof range === 'object'
        ? `is bytes ${range.from} to ${range.to - 1}`
        : (range ?? 'is ignored: the whole file is sent')
    test(`${JSON.stringify(header)} ${outcome}`, () => assert.deepEqual(parseByteRange(header, 100), range))
  }

  test('without a header is the whole file', () => assert.equal(parseByteRange(undefined, 100), undefined))

  test('never reaches outside the file for any header', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^bytes=\d{0,4}-\d{0,4}$/)),
        fc.nat(2000),
        (header, size) => {
          const range = parseByteRange(header, size)
          if (range === undefined || range === 'unsatisfiable') return true
          return range.from >= 0 && range.from < range.to && range.to <= size
        },
      ),
    )
  })
})

suite('If-Range', () => {
  test('allows a range when it is absent or the same strong ETag', () => {
    assert.ok(allowsRange(undefined, '"a"'))
    assert.ok(allowsRange('"a"', '"a"'))
  })

  test('sends the whole file for another ETag, a weak one or a date', () => {
    for (const value of ['"b"', 'W/"a"', 'Sat, 21 Nov 2026 01:00:00 GMT', '*', '"a", "b"']) {
      assert.ok(!allowsRange(value, '"a"'), value)
    }
  })
})
