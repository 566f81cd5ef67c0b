import { base58, base58xrp, base64, base64url } from '@scure/base'
import { holdsBech32 } from './bech32-search.ts'

/** Bytes of an Ed25519 public key, which is an address on Solana and similar chains. */
const KEY_BYTES = 32
const CHECKSUM_BYTES = 4
/** Characters of a Base58Check string: from a version and 20 bytes up to an extended key. */
const BASE58_CHARS_MIN = 25
const BASE58_CHARS_MAX = 112
/** Rounds of percent-decoding at most: a URL inside a URL needs two. */
const DECODINGS_MAX = 3

// The shortest bech32 address has 13 letters and digits in a row, which is rare in prose.
const PREFILTER = /[0-9A-Za-z]{13}|[0-9A-Za-z+/_-]{48}/
const PLAIN = /^[\x20-\x24\x26-\x7e]*$/
const HEX_64 = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gi
const EVM = /0x[0-9a-f]{40}(?![0-9a-f])/i
const BASE58_RUN = /[1-9A-HJ-NP-Za-km-z]{25,}/g
const PERCENT_RUN = /(?:%[0-9a-f]{2})+/gi
// Characters that are invisible between letters: marks, soft hyphens, joiners, zero-width spaces, blank letters.
const INVISIBLE = /[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** SHA-256 of the runtime. */
type Sha256 = (bytes: Uint8Array) => Uint8Array

/** Two tests of a text for wallet addresses. Both accept any text and take linear time. */
type AddressGuard = Readonly<{
  /**
   * Whether the text contains a wallet address (spec, section 4): a base58 run that decodes to 32 bytes, `0x` and 40 hex
   * digits, bech32, Base58Check, or a TON address. A run of 64 hex digits counts as a digest instead. Also tests the text
   * percent-decoded, in compatibility form (full-width letters), and without invisible characters.
   */
  finds(text: string): boolean
  /** Whether `0x` and 40 hex digits, or a checksum, prove an address. An `opaque` transaction is refused for this only. */
  proves(text: string): boolean
}>

/** Opens the guard. Base58Check needs the SHA-256. */
export function openAddressGuard(sha256: Sha256): AddressGuard {
  /** Base58Check: the last four bytes are the first four of the double SHA-256 of the rest. */
  const endsInChecksum = (bytes: Uint8Array): boolean => {
    const digest = sha256(sha256(bytes.subarray(0, -CHECKSUM_BYTES)))
    return bytes.subarray(-CHECKSUM_BYTES).every((byte, at) => byte === digest[at])
  }

  const holdsBase58 = (text: string, withKeys: boolean): boolean => {
    for (const [run] of text.matchAll(BASE58_RUN)) {
      if (run.length < BASE58_CHARS_MIN || run.length > BASE58_CHARS_MAX) continue
      const bytes = base58.decode(run)
      if ((withKeys && bytes.length === KEY_BYTES) || endsInChecksum(bytes)) return true
      // Addresses that begin with r have another alphabet and the same checksum.
      if (run.startsWith('r') && endsInChecksum(base58xrp.decode(run))) return true
    }
    return false
  }

  const holds = (text: string, withKeys: boolean): boolean => {
    if (!PREFILTER.test(text)) return false
    // About one digest in sixty contains a base58 run of 32 bytes, so digests are removed first.
    const rest = text.replace(HEX_64, ' ')
    return EVM.test(rest) || holdsBase58(rest, withKeys) || holdsBech32(rest) || holdsTon(rest)
  }

  const reads = (text: string, withKeys: boolean): boolean =>
    PLAIN.test(text) ? holds(text, withKeys) : readings(text).some((reading) => holds(reading, withKeys))

  return { finds: (text) => reads(text, true), proves: (text) => reads(text, false) }
}

/** The text and its decoded and normalised forms, without repetition. */
function readings(text: string): readonly string[] {
  const decoded = [text]
  for (let round = 0; round < DECODINGS_MAX; round++) {
    const last = decoded.at(-1) ?? ''
    const next = last.replace(PERCENT_RUN, percentDecoded)
    if (next === last) break
    decoded.push(next)
  }
  return [...new Set(decoded.flatMap((each) => [each, each.normalize('NFKD').replace(INVISIBLE, '')]))]
}

const UTF8 = new TextDecoder()

function percentDecoded(run: string): string {
  const bytes = run
    .slice(1)
    .split('%')
    .map((digits) => Number.parseInt(digits, 16))
  return UTF8.decode(Uint8Array.from(bytes))
}

// 36 bytes in base64 of either alphabet, as a whole word.
const TON_RUNS = [
  [base64url, /(?<![0-9A-Za-z_-])[0-9A-Za-z_-]{48}(?![0-9A-Za-z_-])/g],
  [base64, /(?<![0-9A-Za-z+/])[0-9A-Za-z+/]{48}(?![0-9A-Za-z+/])/g],
] as const
/** First byte: bounceable or not, on the main or the test network. */
const TON_TAGS: ReadonlySet<number | undefined> = new Set([0x11, 0x51, 0x91, 0xd1])
/** Second byte: basic chain or master chain. */
const TON_CHAINS: ReadonlySet<number | undefined> = new Set([0x00, 0xff])

function holdsTon(text: string): boolean {
  return TON_RUNS.some(([coder, pattern]) => {
    const runs = text.match(pattern) ?? []
    return runs.some((run) => {
      const bytes = coder.decode(run)
      return TON_TAGS.has(bytes[0]) && TON_CHAINS.has(bytes[1]) && crc16(bytes) === 0
    })
  })
}

/** CRC-16/XMODEM. Zero over bytes that end with their own checksum. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1
  }
  return crc
}
