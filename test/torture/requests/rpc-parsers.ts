import assert from 'node:assert/strict'
import { openChain } from '../../../src/finality/chain/open-chain.ts'
import type { ChainClient } from '../../../src/finality/chain/tx-verdict.ts'
import { ACCEPTED, type AttackedParser, REFUSED } from './attacked-parser.ts'

/** Results of an RPC server by method, or by method and first parameter. */
type Results = Readonly<Record<string, unknown>>

const hash = (digit: string): string => `0x${digit.repeat(64)}`
const PAYER = 'J7rBdM6AecPDEZp8aPq5iPSNKVkU5Q76F3oAV4eW5wsW'
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const balance = (amount: string): object => ({
  accountIndex: 1,
  mint: MINT,
  owner: PAYER,
  uiTokenAmount: { amount, decimals: 6 },
})
const SOLANA: Results = {
  getGenesisHash: GENESIS,
  getSignatureStatuses: {
    context: { slot: 90 },
    value: [{ slot: 57, err: { InstructionError: [0, { Custom: 1 }] }, confirmationStatus: 'finalized' }],
  },
  getTransaction: {
    slot: 57,
    meta: { err: null, preTokenBalances: [balance('1000000')], postTokenBalances: [balance('750000')] },
    transaction: { signatures: ['5'.repeat(88)] },
  },
}
const BLOCK = { number: '0x5', hash: hash('b') }
const EVM: Results = {
  eth_chainId: '0x1',
  'eth_getBlockByNumber finalized': { number: '0x10', hash: hash('a') },
  'eth_getBlockByNumber 0x5': BLOCK,
  eth_getTransactionReceipt: {
    transactionHash: hash('c'),
    blockNumber: '0x5',
    blockHash: BLOCK.hash,
    status: '0x1',
    logs: [],
  },
}

type Call = Readonly<{ id: number; method: string; params: readonly unknown[] }>

const keyOf = ({ method, params }: Call): string => {
  const exact = `${method} ${String(params[0])}`
  return Object.hasOwn(EVM, exact) ? exact : method
}
const reply = (results: Results, call: Call): object => ({
  jsonrpc: '2.0',
  id: call.id,
  result: results[keyOf(call)] ?? null,
})

/** A client of two honest servers and one that answers one kind of call with these bytes. Counts the faults of that one. */
function clientOf(
  chain: 'solana' | 'evm',
  hostile: { key: string; bytes: Uint8Array<ArrayBuffer>; answers: boolean },
  faults: { count: number },
): ChainClient {
  const results = { solana: SOLANA, evm: EVM }[chain]
  return openChain({
    chain,
    urls: ['https://rpc.example/0', 'https://rpc.example/1', 'https://rpc.example/2'],
    signal: new AbortController().signal,
    timeoutMs: 10_000,
    now: () => 0,
    fetch: async (url, init) => {
      const calls: Call | readonly Call[] = JSON.parse(init.body as string)
      const list: readonly Call[] = Array.isArray(calls) ? calls : [calls as Call]
      const isHostile =
        hostile.answers && url.endsWith('2') && list.some((call) => keyOf(call) === hostile.key)
      if (isHostile) return new Response(hostile.bytes)
      const replies = list.map((call) => reply(results, call))
      return new Response(JSON.stringify(Array.isArray(calls) ? replies : replies[0]))
    },
    onFault: (url) => void (faults.count += url === 3 ? 1 : 0),
  })
}

/** Asks for a verdict, with a hostile answer to one kind of call. Two honest servers of three must decide it. */
function rpcParser(chain: 'solana' | 'evm', key: string, id: number, expected: string): AttackedParser {
  const results = { solana: SOLANA, evm: EVM }[chain]
  const [tx, isMoved] = [chain === 'evm' ? hash('c') : '5'.repeat(88), key === 'getTransaction']
  return {
    name: `an answer of ${key}`,
    valid: [JSON.stringify({ jsonrpc: '2.0', id, result: results[key] })],
    async read(bytes) {
      const faults = { count: 0 }
      const hostile = { key, bytes: new Uint8Array(bytes), answers: false }
      const client = clientOf(chain, hostile, faults)
      await client.identify(null)
      hostile.answers = true
      const outcome = isMoved
        ? await client.moved(tx, { payer: PAYER, token: MINT })
        : (await client.ask([tx]))[0]
      const said = JSON.stringify(outcome, (_, value) => (typeof value === 'bigint' ? String(value) : value))
      assert.equal(said, expected, 'two honest servers decide')
      return faults.count === 0 ? ACCEPTED : REFUSED
    },
  }
}

const FAILED = '{"is":"failed","place":"slot 57","reason":"{\\"InstructionError\\":[0,{\\"Custom\\":1}]}"}'
const FINAL = `{"is":"final","place":"block 5 ${BLOCK.hash}"}`

/** Readers of the answers of RPC servers, of which one of three is hostile. */
export const RPC_PARSERS: readonly AttackedParser[] = [
  rpcParser('solana', 'getSignatureStatuses', 2, FAILED),
  rpcParser('solana', 'getTransaction', 2, '{"units":"250000","decimals":6}'),
  rpcParser('evm', 'eth_getBlockByNumber finalized', 3, FINAL),
  rpcParser('evm', 'eth_getTransactionReceipt', 4, FINAL),
  rpcParser('evm', 'eth_getBlockByNumber 0x5', 5, FINAL),
]
