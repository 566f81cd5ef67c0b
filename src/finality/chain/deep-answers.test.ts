import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openChain } from './open-chain.ts'
import type { RpcFault } from '../rpc/rpc-failure.ts'

const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const TX = '5'.repeat(88)
/** An error of a transaction that is nested deeper than a program can write again. */
const DEEP = '{"0":'.repeat(100_000) + '1' + '}'.repeat(100_000)

/** Answer of a server that calls the transaction final, or failed with an error of this JSON. */
const answerOf = (method: string, error: string): string =>
  method === 'getGenesisHash'
    ? `"${GENESIS}"`
    : `{"context":{"slot":9},"value":[{"slot":5,"err":${error},"confirmationStatus":"finalized"}]}`

suite('an error of a transaction that is nested too deep', () => {
  test('costs one server its vote, and the others decide', async () => {
    const faults: (readonly [url: number, fault: RpcFault])[] = []
    const client = openChain({
      chain: 'solana',
      urls: ['https://rpc.example/0', 'https://rpc.example/1', 'https://rpc.example/2'],
      signal: new AbortController().signal,
      timeoutMs: 1_000,
      now: () => 0,
      fetch: async (url, init) => {
        const { id, method }: { id: number; method: string } = JSON.parse(init.body as string)
        const result = answerOf(method, url.endsWith('2') ? DEEP : 'null')
        return new Response(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)
      },
      onFault: (url, { fault }) => faults.push([url, fault]),
    })
    await client.identify(null)
    assert.deepEqual(await client.ask([TX]), [{ is: 'final', place: 'slot 5' }])
    assert.deepEqual(faults, [[3, 'wrong-type']])
  })
})
