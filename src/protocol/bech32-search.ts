const CHARSET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
/** The value of each character of the data part, by character code; −1 for every other character. */
const VALUES: Int8Array = Int8Array.from({ length: 128 }, (_, code) =>
  CHARSET.indexOf(String.fromCharCode(code)),
)
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const
/** What the checksum of a valid string leaves: bech32 (BIP 173) and bech32m (BIP 350). */
const REMAINDERS: ReadonlySet<number> = new Set([1, 0x2bc830a3])

/** Characters of the shortest data part of an address in use (a witness programme of two bytes). */
const DATA_CHARS_MIN = 11
/** Longer than the human-readable part of any address in use. */
const PREFIX_CHARS_MAX = 24
const CANDIDATE = /1(?=[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{11})/gi

/**
 * Whether a bech32 or bech32m string with a valid checksum stands anywhere in the text. A library decodes
 * such a string but cannot find one that is glued to other letters; here one pass per possible beginning
 * sees every possible end. Linear: a separator is followed by its data, which holds no further separator.
 */
export function holdsBech32(text: string): boolean {
  for (const { index } of text.matchAll(CANDIDATE)) {
    const to = dataEnd(text, index + 1)
    for (let from = index - 1; from >= Math.max(0, index - PREFIX_CHARS_MAX); from--) {
      const code = text.charCodeAt(from)
      if (!isWordCharacter(code)) break
      if (isLetter(code) && endsInChecksum(text, from, index, to)) return true
    }
  }
  return false
}

function endsInChecksum(text: string, from: number, separator: number, to: number): boolean {
  let sum = 1
  for (let at = from; at < separator; at++) sum = step(sum, lowerCode(text, at) >> 5)
  sum = step(sum, 0)
  for (let at = from; at < separator; at++) sum = step(sum, lowerCode(text, at) & 31)
  for (let at = separator + 1; at < to; at++) {
    sum = step(sum, valueAt(text, at))
    if (REMAINDERS.has(sum) && at - separator >= DATA_CHARS_MIN && isPlausible(text, from, at + 1))
      return true
  }
  return false
}

/**
 * A string of mixed case is no address, but a person could mend it: it counts where it stands alone. In the
 * middle of a base58 word of mixed case, a thousand begins and ends would make a chance match too likely.
 */
function isPlausible(text: string, from: number, to: number): boolean {
  const found = text.slice(from, to)
  if (found === found.toLowerCase() || found === found.toUpperCase()) return true
  return !isWordCharacter(text.charCodeAt(from - 1)) && !isWordCharacter(text.charCodeAt(to))
}

function dataEnd(text: string, from: number): number {
  let to = from
  while (to < text.length && valueAt(text, to) >= 0) to++
  return to
}

function step(sum: number, value: number): number {
  const top = sum >> 25
  let next = ((sum & 0x1ffffff) << 5) ^ value
  for (let bit = 0; bit < 5; bit++) if ((top >> bit) & 1) next ^= GENERATOR[bit] ?? 0
  return next
}

function valueAt(text: string, at: number): number {
  return VALUES[lowerCode(text, at)] ?? -1
}

function lowerCode(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 65 && code <= 90 ? code + 32 : code
}

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122
}

/** Letters, digits and the underscore, which the test networks of one chain have in their prefix. */
function isWordCharacter(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57) || code === 95
}
