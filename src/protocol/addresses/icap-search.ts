import { hasOneCase, type LetterRun } from './letter-run.ts'

/** Ethereum IBAN: country, check digits, then an address in base 36, or an asset, a register and a name. */
const ICAP = /XE\d\d(?:[0-9A-Z]{31}|[0-9A-Z]{30}|ETH[0-9A-Z]{13})/iy
/** Characters with a name instead of an address. */
const NAMED_CHARS = 20
const LENGTHS = [35, 34, NAMED_CHARS] as const
const ADDRESS_BITS = 160n

/**
 * Whether the run has an ICAP address: an IBAN that begins with XE, with a checksum modulo 97 (ISO 7064). Inside a longer
 * word only a name is proof.
 */
export function holdsIcap({ text, edges, fit }: LetterRun): boolean {
  for (const { index } of text.matchAll(/XE\d\d/gi)) {
    if (edges[index] === 0) continue
    for (const length of LENGTHS) {
      const to = index + length
      if (fit === 'part' && length !== NAMED_CHARS) continue
      if (edges[to] === 1 && isIcap(text.slice(index, to))) return true
    }
  }
  return false
}

function isIcap(text: string): boolean {
  ICAP.lastIndex = 0
  if (ICAP.exec(text)?.[0].length !== text.length || !hasOneCase(text)) return false
  const digits = Array.from(text.slice(4) + text.slice(0, 4), (each) => String(Number.parseInt(each, 36)))
  if (BigInt(digits.join('')) % 97n !== 1n) return false
  return text.length === NAMED_CHARS || base36(text.slice(4)) >> ADDRESS_BITS === 0n
}

function base36(text: string): bigint {
  return Array.from(text).reduce((sum, each) => sum * 36n + BigInt(Number.parseInt(each, 36)), 0n)
}
