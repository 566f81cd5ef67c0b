import { base58 } from '@scure/base'
import type { ChainClientSettings, TokenAccount } from '../chain/tx-verdict.ts'
import { UsageError } from '../../command/terminal/command-error.ts'

type AskableChain = ChainClientSettings['chain']

/** Parses a chain and its RPC servers. Errors never repeat values, because a URL may contain an API key. */
export function readServers(
  option: string,
  text: string,
): Readonly<{ chain: AskableChain; urls: readonly string[] }> {
  const [, chain, list = ''] = /^\s*(solana|evm)=(.*)$/s.exec(text) ?? []
  if (chain !== 'solana' && chain !== 'evm') {
    throw new UsageError(`${option}: give solana=URL,URL,URL or evm=URL,URL,URL`)
  }
  // A comma inside a URL is not followed by a scheme.
  return { chain, urls: list.split(/,(?=\s*[a-z]+:)/i).map((url) => url.trim()) }
}

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/
const BASE58_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
const SOLANA_ADDRESS_BYTES = 32

/** Refuses a payer or a token that is no address of the chain. `before` precedes its name in the error. */
export function checkAddresses(before: string, chain: AskableChain, account: TokenAccount): void {
  for (const [name, address] of Object.entries(account)) {
    if (isAddress(chain, address)) continue
    const form = chain === 'evm' ? '0x and 40 hex digits' : 'base58 that decodes to 32 bytes'
    throw new UsageError(`${before}${name} is no address of ${chain}: give ${form}`)
  }
}

function isAddress(chain: AskableChain, text: string): boolean {
  switch (chain) {
    case 'solana':
      return BASE58_ADDRESS.test(text) && base58.decode(text).length === SOLANA_ADDRESS_BYTES
    case 'evm':
      return EVM_ADDRESS.test(text)
  }
}
