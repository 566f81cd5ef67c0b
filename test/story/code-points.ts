import * as fc from 'fast-check'

/**
 * Any character of Unicode, as the unit of a random string: ASCII, below U+D800, and above the surrogates. The unit
 * `binary` of fast-check first lists every one of them, which takes a second of processor time.
 */
export const codePoints: fc.Arbitrary<string> = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((point) => String.fromCodePoint(point))
