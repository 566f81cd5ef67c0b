import { caselessDigits, digitAt, type Digits, hasOneCase, type LetterRun, runEnd } from './letter-run.ts'

/** The characters of bech32. */
export const CHARSET: Digits = caselessDigits('qpzry9x8gf2tvdw0s3jn54khce6mua7l')
const CHARSET_CONFLUX: Digits = caselessDigits('abcdefghjkmnprstuvwxyz0123456789')

/** Characters of a version, a hash and a checksum, by the size bits of the version. */
const LENGTHS = [42, 48, 55, 61, 74, 87, 100, 112] as const
const CHARS_MIN = LENGTHS[0]

/** A checksum of 40 bits, in two halves of 20. */
type Sum = { high: number; low: number }
const GENERATOR = [
  [0x98f2b, 0xc8e61],
  [0x79b76, 0xd99e2],
  [0xf33e5, 0xfb3c4],
  [0xae2ea, 0xbe2a8],
  [0x1e4f4, 0x3e470],
] as const
/** Halves of the sums of the generators, for each value of the five highest bits. */
const [HIGH_FEEDBACK, LOW_FEEDBACK] = ([0, 1] as const).map((half) =>
  Int32Array.from({ length: 32 }, (_, top) =>
    GENERATOR.reduce<number>((sum, parts, bit) => ((top >> bit) & 1 ? sum ^ parts[half] : sum), 0),
  ),
) as [Int32Array, Int32Array]

/** Addresses with this checksum. The checksum covers the prefix even where the text omits it. */
type Family = Readonly<{
  digits: Digits
  /** Characters of the payload that begins at a position of a text. */
  lengthsAt: (text: string, at: number) => readonly number[]
  /**
   * Checksums that a payload alone must have for a valid whole, by length and usual prefix. The code is linear, so that
   * a prefix counts as if zeros followed it.
   */
  wanted: ReadonlyMap<number, readonly Sum[]>
}>

const FAMILIES: readonly Family[] = [
  family(CHARSET, 'bitcoincash bchtest bchreg simpleledger ecash etoken ectest', LENGTHS, (text, at) => [
    lengthByVersion(text, at),
  ]),
  // A key of 32 bytes or the hash of a script, and a key of 33 bytes.
  family(CHARSET, 'kaspa kaspatest', [61, 63]),
  family(CHARSET_CONFLUX, 'cfx cfxtest', [42]),
]

function family(
  digits: Digits,
  prefixes: string,
  lengths: readonly number[],
  lengthsAt: Family['lengthsAt'] = () => lengths,
): Family {
  const wantedOf = (length: number) => prefixes.split(' ').map((prefix) => wantedAfter(prefix, length))
  return { digits, lengthsAt, wanted: new Map(lengths.map((length) => [length, wantedOf(length)])) }
}

/** A prefix that stands in the text, which may be any word. */
const PREFIXED = /(?<![a-z])([a-z]{1,24}):(?=[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{42})/gi

/** Whether the text has a cashaddr payload after a prefix of its own and a colon. */
export function holdsPrefixedCashaddr(text: string): boolean {
  return text.matchAll(PREFIXED).some(({ 0: head, 1: prefix = '', index }) => {
    const from = index + head.length
    const length = lengthByVersion(text, from)
    // Letters of a word such as "thanks" may follow the payload.
    if (from + length > runEnd(CHARSET, text, from)) return false
    return isPayload(CHARSET, [wantedAfter(prefix.toLowerCase(), length)], text, from, from + length)
  })
}

/**
 * Whether the run has the payload of a cashaddr, Kaspa or Conflux address, whose checksum has 40 bits. The prefix is
 * optional.
 */
export function holdsCashaddr(run: LetterRun): boolean {
  return FAMILIES.some((each) => holdsFamily(run, each))
}

function holdsFamily({ text, edges }: LetterRun, { digits, lengthsAt, wanted }: Family): boolean {
  let end = -1
  for (let from = 0; from + CHARS_MIN <= text.length; from++) {
    if (from >= end) end = runEnd(digits, text, from)
    if (edges[from] === 0 || end - from < CHARS_MIN) continue
    for (const length of lengthsAt(text, from)) {
      const to = from + length
      if (to > end || edges[to] === 0) continue
      if (isPayload(digits, wanted.get(length) ?? [], text, from, to)) return true
    }
  }
  return false
}

/** Characters of the payload that begins at a position, by the size of the hash in its version byte. */
function lengthByVersion(text: string, at: number): number {
  return LENGTHS[(digitAt(CHARSET, text, at + 1) >> 2) & 7] ?? CHARS_MIN
}

function isPayload(digits: Digits, wanted: readonly Sum[], text: string, from: number, to: number): boolean {
  // The highest bit of the version is zero, so the first digit is below 16.
  if (digitAt(digits, text, from) > 15) return false
  const sum: Sum = { high: 0, low: 0 }
  for (let at = from; at < to; at++) push(sum, digitAt(digits, text, at))
  const isProved = wanted.some(({ high, low }) => high === sum.high && low === sum.low)
  return isProved && hasOneCase(text.slice(from, to))
}

function wantedAfter(prefix: string, length: number): Sum {
  const sum: Sum = { high: 0, low: 1 }
  for (const letter of prefix) push(sum, letter.charCodeAt(0) & 31)
  for (let zero = 0; zero <= length; zero++) push(sum, 0)
  sum.low ^= 1
  return sum
}

function push(sum: Sum, digit: number): void {
  const top = sum.high >> 15
  sum.high = (((sum.high & 0x7fff) << 5) | (sum.low >> 15)) ^ (HIGH_FEEDBACK[top] ?? 0)
  sum.low = ((sum.low & 0x7fff) << 5) ^ digit ^ (LOW_FEEDBACK[top] ?? 0)
}
