import { findsAddress } from '../../protocol/address-guard.ts'
import type { ParameterForm } from '../../protocol/parameters.ts'
import { isTx } from '../../protocol/tx.ts'

/** Whether a text that was sent looks like a wallet address. If so, no answer repeats it. */
export function looksLikeAddress(text: string): boolean {
  return findsAddress(text, 'prose')
}

/** Whether an answer may repeat a raw path or query: it holds no wallet address, encoded or not. */
export function isRepeatable(raw: string): boolean {
  return !findsAddress(raw.replaceAll('+', ' '), 'prose')
}

/**
 * Whether the publish door would refuse a value of this form as an address. No address fits the grammar of numbers,
 * times and closed lists; the grammar of its chain decides about a transaction.
 */
export function isForbidden(text: string, form: ParameterForm): boolean {
  switch (form.is) {
    case 'text':
      return form.guarded && findsAddress(text, 'prose')
    case 'tx': {
      const written = form.chains.filter((chain) => isTx(chain, text))
      if (written.length === 0) return findsAddress(text, 'prose')
      return written.every((chain) => chain === 'opaque') && findsAddress(text, 'tx')
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
