import type { Random } from '../../../sim/random.ts'

/** Bytes of the longest mutated input. Longer ones are cut. */
const INPUT_BYTES_MAX: number = 64 * 1024
const OPERATIONS_MAX = 4
const REPEATS_MAX = 200
/** Levels of deep nesting: more than a stack has, and few enough for the longest input. */
const LEVELS_MIN = 7_000
const LEVELS_MAX = 10_000

/** Texts that parsers of several forms may misread. */
const TOKENS: readonly [string, ...string[]] = [
  '"__proto__":{"polluted":1},',
  '"constructor":{"prototype":{"polluted":1}},',
  '"toString":null,',
  '{}',
  '[]',
  'null',
  'true',
  '""',
  ':',
  ',',
  '\\ud800',
  '\\u0000',
  '\u0000',
  '\ufeff',
  '\u202e',
  '😀',
  '\u2014 ',
  '\n\n',
  '\r\n',
  '\r',
  ' ',
  '\t',
  '+',
  '=',
  '/',
  '%00',
  '%ff',
  '&',
  ';',
  '*',
  '0x',
  '-',
  '.',
]
const NUMBERS: readonly [string, ...string[]] = [
  '0',
  '-0',
  '-1',
  '00',
  '1e3',
  '1e309',
  '0.1',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '18446744073709551616',
  '99999999999999999999999999999999',
  'NaN',
  '0x10',
]
const OPENERS: readonly [string, ...string[]] = ['[', '{"a":', '{"0":', '{"__proto__":']
const CLOSER_OF: Readonly<Record<string, string>> = { '[': ']' }
const BYTES: readonly [number, ...number[]] = [
  0, 9, 10, 13, 32, 34, 44, 48, 61, 92, 123, 127, 128, 192, 237, 255,
]

/** Damages valid bytes in one to four ways. `other` is another valid input, of which a part may be taken over. */
export function mutated(random: Random, valid: Uint8Array, other: Uint8Array): Uint8Array {
  let bytes: Buffer = Buffer.from(valid)
  for (let left = random.between(1, OPERATIONS_MAX); left > 0; left--) bytes = damaged(random, bytes, other)
  return bytes.subarray(0, INPUT_BYTES_MAX)
}

function damaged(random: Random, bytes: Buffer, other: Uint8Array): Buffer {
  const at = random.below(bytes.length + 1)
  const to = Math.min(bytes.length, at + random.between(1, 24))
  const replaced = (by: Uint8Array | string, from = at, end = to): Buffer =>
    Buffer.concat([bytes.subarray(0, from), Buffer.from(by as string), bytes.subarray(end)])
  switch (random.below(12)) {
    case 0: {
      const flipped = Buffer.from(bytes)
      if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8))
      return flipped
    }
    case 1:
      return replaced(Uint8Array.of(random.pick(BYTES)), at, at + 1)
    case 2:
      return replaced('')
    case 3:
      return bytes.subarray(0, at)
    case 4: {
      const times = random.chance(0.1) ? REPEATS_MAX : 2
      return replaced(Buffer.concat(Array.from({ length: times }, () => bytes.subarray(at, to))))
    }
    case 5: {
      const from = random.below(other.length + 1)
      return replaced(other.subarray(from, from + random.between(1, 64)), at, random.chance(0.5) ? at : to)
    }
    case 6:
      return replaced(random.pick(TOKENS), at, random.chance(0.5) ? at : to)
    case 7: {
      const found = placeOf(random, bytes, /\d+/g)
      return replaced(random.pick(NUMBERS), ...(found ?? [at, to]))
    }
    case 8: {
      const opener = random.pick(OPENERS)
      const levels = random.chance(0.1) ? random.between(LEVELS_MIN, LEVELS_MAX) : random.below(12)
      const found = placeOf(random, bytes, /:(?:null|true|\d+|"[^"]*")/g)
      const value = `${opener.repeat(levels)}1${(CLOSER_OF[opener] ?? '}').repeat(levels)}`
      return found === undefined ? replaced(value) : replaced(`:${value}`, ...found)
    }
    case 9: {
      const found = placeOf(random, bytes, /\{/g)
      return found === undefined ? replaced('{') : replaced(`{${random.pick(TOKENS)}`, ...found)
    }
    case 10: {
      const text = bytes.toString('latin1', at, to)
      return replaced(Buffer.from(random.chance(0.5) ? text.toUpperCase() : text.toLowerCase(), 'latin1'))
    }
    default:
      return replaced(Buffer.from(random.bytes(random.between(1, 16))))
  }
}

/** Start and end of one match of a pattern, at random; undefined without one. */
function placeOf(random: Random, bytes: Buffer, pattern: RegExp): [from: number, end: number] | undefined {
  const found = [...bytes.toString('latin1').matchAll(pattern)]
  const one = found[random.below(found.length)]
  return one === undefined ? undefined : [one.index, one.index + one[0].length]
}
