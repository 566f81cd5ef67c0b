import { DaybookError } from '../client/daybook-error.ts'
import { SURROUNDINGS } from '../client/surroundings.ts'
import { readObject } from '../verify/reading/json-values.ts'
import { type OpenChain, startVerifier } from '../web/islands/island-verify-run.ts'
import { openChainCheck } from './audit/ask-chain.ts'
import { openChain } from './chain/open-chain.ts'
import { ChainError } from './rpc/chain-url.ts'
import { openRpcBudgets } from './rpc/rpc-budgets.ts'

// Script of the saved verifier's worker, which also asks a blockchain by the reader's RPC servers. A page of the log
// has another worker, because its policy allows requests only to its own server.

const SAMPLE = 100
const LARGEST = 10
const KEY_BYTES = 32
const REQUEST_MS_MAX = 20_000
const REQUESTS_A_MINUTE = 240

const openTypedChain: OpenChain = async (field, source, { sha256 }, now) => {
  const urls = field('rpc')
    .split(/[\s,]+(?=https?:)/)
    .filter((url) => url !== '')
  if (urls.length === 0) return null
  const { chain, simulated } = readObject('status', (await source.read('status')) ?? new Uint8Array(0))
  if (chain !== 'solana' && chain !== 'evm')
    throw new DaybookError(
      'refused',
      'this log does not name its chain, so no server can be asked about its transactions',
    )
  const [payer, token] = [field('payer'), field('token')]
  const { signal } = new AbortController()
  const { now: monotonicMs, sleep } = SURROUNDINGS
  const { spend } = openRpcBudgets({
    urls: urls.length,
    requestsPerMinute: REQUESTS_A_MINUTE,
    monotonicMs,
    sleep,
  })
  try {
    return openChainCheck({
      chain,
      client: openChain({ chain, urls, signal, timeoutMs: REQUEST_MS_MAX, now: monotonicMs, spend }),
      hosts: urls.map((url) => new URL(url).host),
      account: payer === '' || token === '' ? null : { payer, token },
      isSimulated: simulated === true,
      sample: SAMPLE,
      largest: LARGEST,
      wanted: null,
      drawKey: () => crypto.getRandomValues(new Uint8Array(KEY_BYTES)),
      pause: sleep,
      sha256,
      now,
    })
  } catch (error) {
    if (error instanceof ChainError) throw new DaybookError('refused', error.message, { cause: error })
    throw error
  }
}

startVerifier(openTypedChain)
