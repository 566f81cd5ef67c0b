import { keccak_256 } from '@noble/hashes/sha3.js'
import { BASE58 } from './base58-search.ts'
import { digitAt, type LetterRun, runEnd } from './letter-run.ts'
import { base64, base64url } from '@scure/base'
import { crc16 } from './crc.ts'

/** Characters of an address and a subaddress (69 bytes), and of an integrated address (77 bytes). */
const LENGTHS = [95, 106] as const
/** Eight bytes are written as eleven characters, and the last five as seven. */
const BLOCK_CHARS = 11
const LAST_CHARS = 7
const LAST_BYTES = 5
const CHECKSUM_BYTES = 4
/** First characters and first bytes of addresses of the main, test and stage network. */
const FIRST_CHARS = '48579AB'
const NETWORKS: ReadonlySet<number | undefined> = new Set([18, 19, 42, 53, 54, 63, 24, 25, 36])

/** Whether the run has a Monero address: base58 in blocks, with a checksum of Keccak-256. */
export function holdsMonero({ text, edges }: LetterRun): boolean {
  let end = -1
  for (let from = 0; from + LENGTHS[0] <= text.length; from++) {
    if (from >= end) end = runEnd(BASE58, text, from)
    if (edges[from] === 0 || !FIRST_CHARS.includes(text.charAt(from))) continue
    for (const length of LENGTHS) {
      const to = from + length
      if (to <= end && edges[to] === 1 && isMonero(text.slice(from, to))) return true
    }
  }
  return false
}

function isMonero(text: string): boolean {
  const bytes: number[] = []
  for (let at = 0; at < text.length; at += BLOCK_CHARS) {
    const size = text.length - at === LAST_CHARS ? LAST_BYTES : 8
    let value = 0n
    for (let place = at; place < Math.min(text.length, at + BLOCK_CHARS); place++) {
      value = value * 58n + BigInt(digitAt(BASE58, text, place))
    }
    if (value >> BigInt(size * 8) !== 0n) return false
    for (let byte = size - 1; byte >= 0; byte--) bytes.push(Number((value >> BigInt(byte * 8)) & 255n))
    if (!NETWORKS.has(bytes[0])) return false
  }
  const digest = keccak_256(Uint8Array.from(bytes.slice(0, -CHECKSUM_BYTES)))
  return bytes.slice(-CHECKSUM_BYTES).every((byte, at) => byte === digest[at])
}

/**
 * 36 bytes in base64 of either alphabet. The first character is the tag (bounceable or not, main or test network). The
 * second is the chain (basic or master). Form decoding reads a plus sign as a blank.
 */
const FORMS = [
  [base64url, /(?=([EUk0][Qf][0-9A-Za-z_-]{46}))/g],
  [base64, /(?=([EUk0][Qf][0-9A-Za-z+/ ]{46}))/g],
] as const
const TAGS: ReadonlySet<number | undefined> = new Set([0x11, 0x51, 0x91, 0xd1])
const CHAINS: ReadonlySet<number | undefined> = new Set([0x00, 0xff])

/** Whether the text has a TON address in its user-friendly form. The raw form is a digest with a number before it. */
export function holdsTon(text: string): boolean {
  return FORMS.some(([coder, pattern]) =>
    text.matchAll(pattern).some(([, run = '']) => {
      const bytes = coder.decode(run.replaceAll(' ', '+'))
      return TAGS.has(bytes[0]) && CHAINS.has(bytes[1]) && crc16(bytes) === 0
    }),
  )
}
