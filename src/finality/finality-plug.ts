import type { Option } from '../command/plug/option.ts'

/**
 * Option that asks a blockchain about transactions, by RPC servers that vote. `serve` holds drafts until their
 * transactions are final, and `verify` checks a sample of the log's transactions. The core (`publish/held-drafts.ts`)
 * holds drafts and releases them in order. To read: `gate/finality-gate.ts` for the queries of a service,
 * `audit/ask-chain.ts` for those of a verifier, `chain/open-chain.ts` for the votes.
 */
export const FINALITY: Option = {
  serve: async () => (await import('./command/finality-options.ts')).SERVE_WITH_FINALITY,
  verify: async () => (await import('./command/verify-chain.ts')).VERIFY_CHAIN,
}
