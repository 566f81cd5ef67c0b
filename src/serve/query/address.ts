import { findsAddress } from '../../protocol/address-guard.ts'
import { readingsOf } from '../../protocol/addresses/readings.ts'
import type { ParameterForm } from '../../protocol/parameters.ts'
import { isTx } from '../../protocol/tx.ts'

/** Checksums that the address search of a request may cost: a few milliseconds. */
const PROOFS_MAX = 512

/** Whether a sent text looks like a wallet address. If so, no answer repeats it. */
export function looksLikeAddress(text: string): boolean {
  return findsAddress(text, 'prose', PROOFS_MAX)
}

/** Decoded characters of a text, which determine the cost of a search. Zero under too many layers of encoding. */
export function plainCharsOf(text: string): number {
  return readingsOf(text)?.last.length ?? 0
}

/** Characters of the longest path with query that an answer repeats. Searching a longer one takes too long. */
const REPEATED_CHARS_MAX = 1_024

/**
 * Whether an answer may repeat a raw path or query. It must be short enough, and neither the whole nor a decoded name
 * or value may contain a wallet address.
 */
export function isRepeatable(raw: string): boolean {
  if (raw.length > REPEATED_CHARS_MAX) return false
  const spaced = raw.replaceAll('+', ' ')
  return ![...new Set([spaced, ...decodedParts(spaced)])].some(looksLikeAddress)
}

/** Path, names and values of an address, percent-decoded like the query. */
function decodedParts(raw: string): readonly string[] {
  return raw.split(/[?&]/).flatMap((pair) => {
    const equals = pair.indexOf('=')
    const parts = equals < 0 ? [pair] : [pair.slice(0, equals), pair.slice(equals + 1)]
    return parts.map(decoded)
  })
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * Whether the publish API would refuse a value of this form as an address. The grammar of numbers, times and closed
 * lists excludes addresses; the chain's grammar decides about a transaction.
 */
export function isForbidden(text: string, form: ParameterForm): boolean {
  switch (form.is) {
    case 'text':
      return form.guarded && findsAddress(text, 'prose')
    case 'tx': {
      const written = form.chains.filter((chain) => isTx(chain, text))
      if (written.length === 0) return findsAddress(text, 'prose')
      return !written.includes('solana') && findsAddress(text, 'tx')
    }
    case 'word':
    case 'time':
    case 'integer':
    case 'flag':
    case 'one-of':
    case 'list-of':
    case 'words':
    case 'integers':
      return findsAddress(text, 'prose')
  }
}
