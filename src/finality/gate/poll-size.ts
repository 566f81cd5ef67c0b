import type { AskedChain } from './finality-settings.ts'

/** Most transactions of one Solana request, and of one poll. */
const SIGNATURES = 256
const SOLANA_TXS_MAX = 1_024
/** Requests about one EVM transaction: its receipt and its block. A poll needs one more for the final block. */
const EVM_REQUESTS = 2
const EVM_TXS_MAX = 100

/** Number of transactions for which this many requests suffice, so that a poll seldom waits for its budget. */
export function pollSize(chain: AskedChain, requests: number): number {
  switch (chain) {
    case 'solana':
      return Math.min(requests * SIGNATURES, SOLANA_TXS_MAX)
    case 'evm':
      return Math.max(0, Math.min(Math.floor((requests - 1) / EVM_REQUESTS), EVM_TXS_MAX))
  }
}

/** Approximate requests to each server about this many transactions. */
export function requestsFor(chain: AskedChain, txs: number): number {
  switch (chain) {
    case 'solana':
      return Math.ceil(txs / SIGNATURES)
    case 'evm':
      return 1 + EVM_REQUESTS * txs
  }
}
