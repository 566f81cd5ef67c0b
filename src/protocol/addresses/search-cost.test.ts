import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { findsAddress } from '../address-guard.ts'

const CHARS = 400
const TIMES = 8
const ROUNDS = 4
/** One long text costs as much as its parts in linear time, and eight times as much in quadratic time. */
const RATIO_MAX = 3

/** Hex digits of both cases, of which each part of 40 may have the checksum of EIP-55. */
const MIXED_HEX = `${'aB'.repeat(31)}g`

/** Pieces of which a text is costly to search. None has an address in it. */
const PIECES: readonly (readonly string[])[] = [
  [
    '1',
    'q',
    '1q',
    'a1',
    'z',
    'z0',
    'f',
    '0x',
    'aB3',
    'r',
    'X',
    'Ae2',
    'zc',
    'xpub',
    '4',
    'G',
    'GA',
    'A',
    'Q',
  ],
  ['XE12', 'XE12ETH', 'EQ', 'f1a', 'f42f', 'f41f', 'bc1qqqqqqqqqqqqq', `${'a'.repeat(24)}1${'q'.repeat(11)}`],
  ['a B 3 ', '9 a ', 'aA1 ', 'q2 ', 'G2 ', 'A b 1. ', '0x1 ', '2-B-', '. '],
  [MIXED_HEX],
  ['%41', '%25', '&#49;', '&#x', '&amp;', '&amp', '&', 'Ａ', 'а', 'ﷺ', '\u200b', '\u0332'],
]

/** Cost of one long text relative to that of its parts, in the first round that other load does not disturb. */
function ratioOf(piece: string): number {
  const long = piece.repeat(Math.ceil((TIMES * CHARS) / piece.length)).slice(0, TIMES * CHARS)
  const parts = Array.from({ length: TIMES }, (_, at) => long.slice(at * CHARS, (at + 1) * CHARS))
  const timed = (texts: readonly string[]) => {
    const begun = performance.now()
    for (const text of texts) findsAddress(text, 'prose')
    return performance.now() - begun
  }
  let ratio = Infinity
  for (let round = 0; round < ROUNDS && ratio >= RATIO_MAX; round += 1) {
    const ofParts = timed(parts)
    ratio = Math.min(ratio, timed([long]) / ofParts)
  }
  return ratio
}

suite('a search for addresses', () => {
  test('counts each checksum of EIP-55 as four of base58', () => {
    const runs = MIXED_HEX.repeat(16)
    const checksums = 16 * (62 - 39)
    // A character costs about one checksum of base58 too.
    assert.ok(!findsAddress(runs, 'url', checksums * 4 + runs.length))
    assert.ok(findsAddress(runs, 'url', checksums * 4 - 1))
    assert.ok(findsAddress(runs.repeat(2), 'url'))
  })

  for (const piece of PIECES.flat()) {
    test(`grows no faster than a text that repeats ${JSON.stringify(piece.slice(0, 20))}`, () => {
      const ratio = ratioOf(piece)
      assert.ok(ratio < RATIO_MAX, `${ratio.toFixed(1)} times the cost of the parts`)
    })
  }
})
