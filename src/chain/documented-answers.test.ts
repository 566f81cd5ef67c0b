import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openChain } from './open-chain.ts'
import type { RpcFault } from './rpc-failure.ts'
import type { ChainClient } from './tx-verdict.ts'

/** Results by method, or by method and first parameter. */
type Results = Readonly<Record<string, unknown>>

/** A client of one server that answers these results in the envelope of JSON-RPC 2.0. */
async function clientOf(
  chain: 'solana' | 'evm',
  results: Results,
  faults: RpcFault[] = [],
): Promise<ChainClient> {
  const client = openChain({
    chain,
    urls: ['https://rpc.example'],
    signal: new AbortController().signal,
    timeoutMs: 1_000,
    now: () => 0,
    fetch: async (_url, init) => {
      const body = JSON.parse(init.body as string)
      const calls: { id: number; method: string; params: unknown[] }[] = Array.isArray(body) ? body : [body]
      const replies = calls.map(({ id, method, params }) => ({
        jsonrpc: '2.0',
        result: results[`${method} ${String(params[0])}`] ?? results[method] ?? null,
        id,
      }))
      return new Response(JSON.stringify(Array.isArray(body) ? replies : replies[0]))
    },
    onFault: (_url, fault) => faults.push(fault),
  })
  await client.identify(null)
  return client
}

// The answers below have the fields, types and special values of the examples in the public documentation of both
// chains (solana.com/docs/rpc/http, ethereum.org/developers/docs/apis/json-rpc). Values are ours.

const SIGNATURE = '4Nd1mY1KkW6zUwz5gGZ9VQn3XQyJ7gUqV6k1FQm9cJ3vYt5oT7sRr1hB2dXeLpZaGfWuNqCkMiSjPbEvHxDyAoTz'
const WALLET = '7GgPYjS5Dza89wV6FpZ23kUJRG5vbQ1GM25ezspYFSoE'
const MINT = 'Fv9kqXrUeQ1jGv1bTqN6o4dJm8S3zB5hY7wLcPpK2aRt'
const GENESIS = { getGenesisHash: '8GZt5cKqjYvVfQw1mHn7pXaLrUeBd3sT2oRkNyWiCbJh' }

const statuses = (...value: readonly unknown[]): Results => ({
  ...GENESIS,
  getSignatureStatuses: { context: { apiVersion: '2.1.16', slot: 91 }, value },
})

const FINALIZED = {
  slot: 57,
  confirmations: null,
  err: null,
  status: { Ok: null },
  confirmationStatus: 'finalized',
}

suite('an answer in the form of the public documentation of Solana', () => {
  test('of getGenesisHash is the id of the chain', async () => {
    const client = await clientOf('solana', statuses())
    assert.equal(await client.identify(GENESIS.getGenesisHash), GENESIS.getGenesisHash)
  })

  test('of getSignatureStatuses gives a verdict for each signature', async () => {
    const client = await clientOf('solana', statuses(FINALIZED, null))
    assert.deepEqual(await client.ask([SIGNATURE, 'other']), [
      { is: 'final', place: 'slot 57' },
      { is: 'unknown' },
    ])
  })

  test('about a failed transaction has the error as an object or a word', async () => {
    const inner = { InstructionError: [0, { Custom: 1 }] }
    const failed = (err: unknown) => ({ ...FINALIZED, err, status: { Err: err } })
    const client = await clientOf('solana', statuses(failed(inner), failed('AccountNotFound')))
    assert.deepEqual(await client.ask(['a', 'b']), [
      { is: 'failed', place: 'slot 57', reason: '{"InstructionError":[0,{"Custom":1}]}' },
      { is: 'failed', place: 'slot 57', reason: 'AccountNotFound' },
    ])
  })

  test('about a transaction that is not final waits, even with an error', async () => {
    const young = { ...FINALIZED, confirmations: 10 }
    const client = await clientOf(
      'solana',
      statuses(
        { ...young, confirmationStatus: 'processed' },
        { ...young, confirmationStatus: 'confirmed', err: { InstructionError: [0, 'Custom'] } },
        { ...young, confirmationStatus: null },
      ),
    )
    const waiting = { is: 'waiting' }
    assert.deepEqual(await client.ask(['a', 'b', 'c']), [waiting, waiting, waiting])
  })

  test('of getTransaction gives what the payer moved', async () => {
    const balance = (accountIndex: number, owner: string, amount: string) => ({
      accountIndex,
      mint: MINT,
      owner,
      programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      uiTokenAmount: {
        amount,
        decimals: 6,
        uiAmount: Number(amount) / 1e6,
        uiAmountString: `${Number(amount) / 1e6}`,
      },
    })
    const transaction = {
      blockTime: 1_746_479_684,
      meta: {
        computeUnitsConsumed: 150,
        err: null,
        fee: 5000,
        innerInstructions: [],
        loadedAddresses: { readonly: [], writable: [] },
        logMessages: ['Program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA success'],
        postBalances: [989_995_000, 10_000_000, 1],
        postTokenBalances: [balance(1, WALLET, '750000'), balance(2, 'somebody', '250000')],
        preBalances: [1_000_000_000, 0, 1],
        preTokenBalances: [balance(1, WALLET, '1000000'), balance(2, 'somebody', '0')],
        rewards: [],
        status: { Ok: null },
      },
      slot: 57,
      transaction: {
        message: {
          accountKeys: [{ pubkey: WALLET, signer: true, source: 'transaction', writable: true }],
          instructions: [],
          recentBlockhash: '6pw7JBwq9tb5GHiBQgvY6RAp34hWHMMTo1hrRmEiXGDr',
        },
        signatures: [SIGNATURE],
      },
      version: 0,
    }
    const client = await clientOf('solana', { ...GENESIS, getTransaction: transaction })
    assert.deepEqual(await client.moved(SIGNATURE, { payer: WALLET, token: MINT }), {
      units: 250_000n,
      decimals: 6,
    })
  })
})
