import { base58 } from '@scure/base'

/** The chains whose transaction identifiers Daybook knows how to write; `opaque` stands for any other. */
export const CHAINS = ['solana', 'evm', 'opaque'] as const

export type Chain = (typeof CHAINS)[number]

/** Bytes of a Solana signature, which is the identifier of its transaction. */
const SIGNATURE_BYTES = 64
const EVM_TX = /^0x[0-9a-fA-F]{64}$/
const OPAQUE_TX = /^[A-Za-z0-9:_-]{8,128}$/
// 64 bytes take 64 characters (all zero) to 88; the pattern keeps the decoder, which throws, from other text.
const BASE58_SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/

export function isChain(text: string): text is Chain {
  return text === 'solana' || text === 'evm' || text === 'opaque'
}

/** Whether the text is written as an identifier of a transaction of this chain; says nothing of its existence. */
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

/** How a transaction identifier of the chain is written, to complete "tx must be …". */
export const TX_FORM: Readonly<Record<Chain, string>> = {
  solana: 'base58 that decodes to 64 bytes',
  evm: '0x and 64 hex digits',
  opaque: '8 to 128 of the characters A-Z a-z 0-9 : _ -',
}

/** The same as a regular expression for schemas; of a Solana signature all but its decoded length. */
export const TX_PATTERN: Readonly<Record<Chain, string>> = {
  solana: BASE58_SIGNATURE.source,
  evm: EVM_TX.source,
  opaque: OPAQUE_TX.source,
}
