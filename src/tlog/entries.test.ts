import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { parseEntries, parseEntry } from '../../test/tlog/bundle.ts'
import * as fc from 'fast-check'
import { ENTRY_BYTES_MAX, formatEntries, formatEntry } from './entries.ts'

const lines = fc.oneof(
  fc.json(),
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
)
const entries = fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 20 })

suite('an entry', () => {
  test('is the line of an event, then a line feed and the line of its details, if any', () => {
    assert.equal(Buffer.from(formatEntry('{"seq":1}', null)).toString(), '{"seq":1}')
    assert.equal(Buffer.from(formatEntry('{"seq":1}', '{"url":"ü"}')).toString(), '{"seq":1}\n{"url":"ü"}')
  })

  test('is parsed to the formatted value', () => {
    fc.assert(
      fc.property(lines, fc.option(lines), (line, details) => {
        assert.deepEqual(parseEntry(formatEntry(line, details)), { line, details })
      }),
    )
  })

  test('has at most 65,535 bytes', () => {
    assert.equal(formatEntry('a'.repeat(ENTRY_BYTES_MAX), null).length, 65_535)
    assert.throws(() => formatEntry('a'.repeat(ENTRY_BYTES_MAX), ''), RangeError)
    assert.throws(() => formatEntries([new Uint8Array(ENTRY_BYTES_MAX + 1)]), RangeError)
  })
})

suite('a bundle of entries', () => {
  test('is parsed to the formatted value', () => {
    fc.assert(
      fc.property(entries, (given) => {
        assert.deepEqual(parseEntries(formatEntries(given), given.length), given)
      }),
    )
    const longest = [new Uint8Array(ENTRY_BYTES_MAX).fill(7), new Uint8Array(0)]
    assert.deepEqual(parseEntries(formatEntries(longest), 2), longest)
  })
})
