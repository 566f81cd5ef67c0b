import { base58 } from '@scure/base'

/** Chains with a known form of transaction identifiers; `opaque` is for any other chain. */
export const CHAINS = ['solana', 'evm', 'opaque'] as const

export type Chain = (typeof CHAINS)[number]

/** Bytes of a Solana signature, which identifies its transaction. */
const SIGNATURE_BYTES = 64
const EVM_TX = /^0x[0-9a-fA-F]{64}$/
const OPAQUE_TX = /^[A-Za-z0-9:_-]{8,128}$/
// 64 bytes take 64 (all zero) to 88 characters. The pattern protects the decoder, which throws on other text.
const BASE58_SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/

export function isChain(text: string): text is Chain {
  return CHAINS.some((chain) => chain === text)
}

/** Whether the text has the form of a transaction identifier of this chain. Does not check that it exists. */
export function isTx(chain: Chain, text: string): boolean {
  switch (chain) {
    case 'solana':
      return BASE58_SIGNATURE.test(text) && base58.decode(text).length === SIGNATURE_BYTES
    case 'evm':
      return EVM_TX.test(text)
    case 'opaque':
      return OPAQUE_TX.test(text)
  }
}

/** Canonical text of a transaction identifier: hex digits in lower case. Other forms stay as they are. */
export function canonicalTx(tx: string): string {
  return EVM_TX.test(tx) ? tx.toLowerCase() : tx
}

/** Form of a transaction identifier, to complete "tx must be …". */
export const TX_FORM: Readonly<Record<Chain, string>> = {
  solana: 'base58 that decodes to 64 bytes',
  evm: '0x and 64 hex digits',
  opaque: '8 to 128 of the characters A-Z a-z 0-9 : _ -',
}

/** Pattern of a transaction identifier for schemas. Does not check the decoded length of a Solana signature. */
export const TX_PATTERN: Readonly<Record<Chain, string>> = {
  solana: BASE58_SIGNATURE.source,
  evm: EVM_TX.source,
  opaque: OPAQUE_TX.source,
}
