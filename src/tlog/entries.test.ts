import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { ENTRY_BYTES_MAX, formatEntries, formatEntry, parseEntries, parseEntry } from './entries.ts'

const lines = fc.oneof(
  fc.json(),
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
)
const entries = fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 20 })

suite('an entry', () => {
  test('is the line of an event, and after a line feed that of its details', () => {
    assert.equal(Buffer.from(formatEntry('{"seq":1}', null)).toString(), '{"seq":1}')
    assert.equal(Buffer.from(formatEntry('{"seq":1}', '{"url":"ü"}')).toString(), '{"seq":1}\n{"url":"ü"}')
  })

  test('comes back as it was written', () => {
    fc.assert(
      fc.property(lines, fc.option(lines), (line, details) => {
        assert.deepEqual(parseEntry(formatEntry(line, details)), { line, details })
      }),
    )
  })

  test('is refused with a third line, or bytes that are no UTF-8, or too many', () => {
    assert.equal(parseEntry(Buffer.from('{}\n{}\n{}')), undefined)
    assert.equal(parseEntry(Uint8Array.of(0x7b, 0xff)), undefined)
    assert.equal(parseEntry(new Uint8Array(ENTRY_BYTES_MAX + 1)), undefined)
  })

  test('has 65,535 bytes at most', () => {
    assert.equal(formatEntry('a'.repeat(ENTRY_BYTES_MAX), null).length, 65_535)
    assert.throws(() => formatEntry('a'.repeat(ENTRY_BYTES_MAX), ''), RangeError)
    assert.throws(() => formatEntries([new Uint8Array(ENTRY_BYTES_MAX + 1)]), RangeError)
  })
})

suite('a bundle of entries', () => {
  test('comes back as it was written', () => {
    fc.assert(
      fc.property(entries, (given) => {
        assert.deepEqual(parseEntries(formatEntries(given), given.length), given)
      }),
    )
    const longest = [new Uint8Array(ENTRY_BYTES_MAX).fill(7), new Uint8Array(0)]
    assert.deepEqual(parseEntries(formatEntries(longest), 2), longest)
  })

  test('is refused with fewer or more entries than its width says', () => {
    const bytes = formatEntries([Uint8Array.of(1), Uint8Array.of(2, 3)])
    for (const width of [0, 1, 3, 256]) assert.equal(parseEntries(bytes, width), undefined)
  })

  test('is refused when cut anywhere, or with any byte behind it', () => {
    fc.assert(
      fc.property(entries, fc.uint8Array({ minLength: 1, maxLength: 4 }), (given, more) => {
        const bytes = formatEntries(given)
        for (let end = 0; end < bytes.length; end++) {
          assert.equal(parseEntries(bytes.subarray(0, end), given.length), undefined)
        }
        assert.equal(parseEntries(Uint8Array.from([...bytes, ...more]), given.length), undefined)
      }),
      { numRuns: 30 },
    )
  })
})
