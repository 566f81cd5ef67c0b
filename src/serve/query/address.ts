import { findsAddress } from '../../protocol/address-guard.ts'
import { readingsOf } from '../../protocol/addresses/readings.ts'
import type { ParameterForm } from '../../protocol/parameters.ts'
import { isTx } from '../../protocol/tx.ts'

/** Checksums that the search of a request may cost: a few milliseconds. */
const PROOFS_MAX = 512

/** Whether a text that was sent looks like a wallet address. If so, no answer repeats it. */
export function looksLikeAddress(text: string): boolean {
  return findsAddress(text, 'prose', PROOFS_MAX)
}

/** Characters of a text whose encodings are undone, which is what a search costs. Zero under too many layers of them. */
export function plainCharsOf(text: string): number {
  return readingsOf(text)?.last.length ?? 0
}

/** Characters of the longest path with its query that an answer repeats: the search of a longer one takes too long. */
const REPEATED_CHARS_MAX = 1_024

/**
 * Whether an answer may repeat a raw path or query: it is not too long, and neither the whole nor a decoded name or value
 * holds a wallet address.
 */
export function isRepeatable(raw: string): boolean {
  if (raw.length > REPEATED_CHARS_MAX) return false
  const spaced = raw.replaceAll('+', ' ')
  return ![...new Set([spaced, ...decodedParts(spaced)])].some(looksLikeAddress)
}

/** Path, names and values of an address, percent-decoded as the query is read. */
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
 * Whether the publish API would refuse a value of this form as an address. No address fits the grammar of numbers,
 * times and closed lists; the grammar of its chain decides about a transaction.
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
