import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { unpackedLines, unpacked } from './unpacked.ts'

async function linesIn(file: Uint8Array): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const some of unpackedLines('a file', unpacked('a file', file))) lines.push(...some)
  return lines
}

suite('the lines of a gzip file', () => {
  test('are those that were packed, in pieces of any size', async () => {
    const lines = fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' ')))
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 400 }), async (some, times) => {
        const all = Array.from({ length: times }, () => some).flat()
        const file = gzipSync(all.map((line) => `${line}\n`).join(''))
        assert.deepEqual(await linesIn(file), all)
      }),
      { numRuns: 30 },
    )
  })

  const good = gzipSync('a line\n')
  const table: readonly (readonly [what: string, file: Uint8Array, says: RegExp])[] = [
    ['no gzip file', Buffer.from('a line\n'), /is not a complete gzip file/],
    ['an empty file', new Uint8Array(0), /is not a complete gzip file/],
    ['one that is cut off', good.subarray(0, -1), /is not a complete gzip file/],
    ['one with bytes behind it', Buffer.concat([good, Buffer.from('x')]), /is not a complete gzip file/],
    [
      'one whose checksum is wrong',
      good.with(good.length - 6, (good.at(-6) ?? 0) ^ 1),
      /is not a complete gzip file/,
    ],
    ['one whose last line does not end', gzipSync('a line'), /a last line without a line feed/],
    ['one that is not UTF-8', gzipSync(Uint8Array.of(0xff, 10)), /is not UTF-8/],
    ['one that ends within a character', gzipSync(Uint8Array.of(0xe2, 0x82)), /is not UTF-8/],
    ['a line without an end', gzipSync(Buffer.alloc(4_000_000, 'x')), /a line that is too long/],
  ]
  for (const [what, file, says] of table) {
    test(`are not read from ${what}`, async () => assert.rejects(linesIn(file), says))
  }
})
