import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isTx } from '../../src/protocol/tx.ts'
import type { ChainKind } from './chain-settings.ts'
import { openPretendChain, type PretendChain, SOLANA_FAILURE } from './pretend-chain.ts'
import type { Faults } from './rpc-faults.ts'
import { openRpcServer, type RpcServer } from './rpc-server.ts'

type Stage = Readonly<{
  chain: PretendChain
  rpc: RpcServer
  step(ms: number): void
  post(body: unknown): Promise<Response>
  /** Body of the answer to one call. */
  call(method: string, ...params: unknown[]): Promise<unknown>
}> &
  AsyncDisposable

const START = Date.UTC(2026, 0, 1)

async function open(kind: ChainKind, faults: Faults = {}): Promise<Stage> {
  let moment = START
  const tokens = { [kind === 'evm' ? `0x${'Ab'.repeat(20)}` : 'KotsMint']: 6 }
  const chain = openPretendChain({ kind, seed: 'test', now: () => moment, tokens })
  const rpc = await openRpcServer({ chain, faults })
  const post = (body: unknown): Promise<Response> =>
    fetch(rpc.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return {
    chain,
    rpc,
    step: (ms) => void (moment += ms),
    post,
    call: async (method, ...params) => (await post({ jsonrpc: '2.0', id: 1, method, params })).json(),
    [Symbol.asyncDispose]: () => rpc.close(),
  }
}

const result = (value: unknown) => ({ jsonrpc: '2.0', id: 1, result: value })
const problem = (code: number, message: string, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
/** Value of a path in an answer. */
const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  )

suite('the pretend Solana RPC server', () => {
  test('answers the statuses of signatures in order, with null for an unknown one', async () => {
    await using stage = await open('solana')
    const { chain } = stage
    chain.send(chain.txOf(1))
    chain.send(chain.txOf(2), { error: SOLANA_FAILURE })
    assert.ok(isTx('solana', chain.txOf(1)))
    const ask = () =>
      stage.call('getSignatureStatuses', [1, 2, 3].map(chain.txOf), { searchTransactionHistory: true })
    stage.step(800)
    const early = await ask()
    assert.equal(at(early, 'result', 'value', 0, 'confirmationStatus'), 'processed')
    assert.equal(at(early, 'result', 'value', 0, 'confirmations'), 0)
    stage.step(400)
    assert.equal(at(await ask(), 'result', 'value', 0, 'confirmationStatus'), 'confirmed')
    stage.step(20_000)
    const slot = at(early, 'result', 'value', 0, 'slot')
    const late = await ask()
    assert.deepEqual(at(late, 'result', 'value'), [
      { confirmationStatus: 'finalized', confirmations: null, err: null, slot, status: { Ok: null } },
      {
        confirmationStatus: 'finalized',
        confirmations: null,
        err: SOLANA_FAILURE,
        slot,
        status: { Err: SOLANA_FAILURE },
      },
      null,
    ])
    stage.step(600_000)
    const recent = await stage.call('getSignatureStatuses', [chain.txOf(1)])
    assert.deepEqual(at(recent, 'result', 'value'), [null], 'the status cache is short')
  })

  test('refuses with the codes and messages of Agave', async () => {
    await using stage = await open('solana')
    const { chain } = stage
    const many = Array.from({ length: 257 }, (_, index) => chain.txOf(index))
    assert.deepEqual(
      await stage.call('getSignatureStatuses', many),
      problem(-32_602, 'Too many inputs provided; max 256'),
    )
    assert.deepEqual(
      await stage.call('getSignatureStatuses', ['abc']),
      problem(-32_602, 'Invalid param: WrongSize'),
    )
    assert.deepEqual(
      await stage.call('getSignatureStatuses', ['0OIl']),
      problem(-32_602, 'Invalid param: Invalid'),
    )
    assert.deepEqual(await stage.call('getNothing'), problem(-32_601, 'Method not found'))
    assert.deepEqual(await (await stage.post('{')).json(), problem(-32_700, 'Parse error', null))
    assert.equal((await stage.post(JSON.stringify('x'.repeat(60_000)))).status, 413)
    assert.equal((await fetch(stage.rpc.url)).status, 405)
    assert.equal((await fetch(stage.rpc.url, { method: 'POST', body: '{}' })).status, 415)
    assert.deepEqual(await stage.call('getGenesisHash'), result(chain.genesis))
  })

  test('answers token balances before and after, which differ by what was moved', async () => {
    await using stage = await open('solana')
    const { chain } = stage
    const payer = chain.addressOf('payer')
    const transfers = ['a', 'b', 'c', 'd'].map((name) => ({
      token: 'KotsMint',
      payer,
      payee: chain.addressOf(name),
      units: 1_500_000n,
    }))
    chain.send(chain.txOf(1), { transfers })
    stage.step(30_000)
    const answer = await stage.call('getTransaction', chain.txOf(1), {
      encoding: 'jsonParsed',
      maxSupportedTransactionVersion: 255,
    })
    const sum = (list: unknown): bigint => {
      assert.ok(Array.isArray(list))
      const own: unknown[] = list.filter((balance) => at(balance, 'owner') === payer)
      return own.reduce<bigint>(
        (total, balance) => total + BigInt(String(at(balance, 'uiTokenAmount', 'amount'))),
        0n,
      )
    }
    const before = at(answer, 'result', 'meta', 'preTokenBalances')
    const after = at(answer, 'result', 'meta', 'postTokenBalances')
    assert.equal(sum(before) - sum(after), 6_000_000n)
    assert.equal(at(after, 0, 'uiTokenAmount', 'decimals'), 6)
    assert.equal(at(answer, 'result', 'transaction', 'signatures', 0), chain.txOf(1))
    assert.deepEqual(await stage.call('getTransaction', chain.txOf(2)), result(null))
  })

  test('answers transactions of three versions, to clients that accept them', async () => {
    await using stage = await open('solana')
    const { chain } = stage
    const txs = Array.from({ length: 12 }, (_, number) => chain.txOf(number))
    for (const tx of txs) chain.send(tx)
    stage.step(30_000)
    const accepting = async (accepted: unknown): Promise<readonly string[]> => {
      const config = accepted === undefined ? {} : { maxSupportedTransactionVersion: accepted }
      const answers = await Promise.all(txs.map((tx) => stage.call('getTransaction', tx, config)))
      const found = answers.map((answer) => at(answer, 'result', 'version') ?? at(answer, 'error', 'code'))
      return [...new Set(found)].map(String).toSorted()
    }
    assert.deepEqual(await accepting(undefined), ['-32015', 'legacy'])
    assert.deepEqual(await accepting(0), ['-32015', '0', 'legacy'])
    assert.deepEqual(await accepting(1), ['0', '1', 'legacy'])
    assert.deepEqual(await accepting(255), ['0', '1', 'legacy'])
    for (const accepted of [256, -1, 0.5, '0']) assert.deepEqual(await accepting(accepted), ['-32602'])
  })
})

suite('the pretend EVM RPC server', () => {
  test('answers receipts and blocks that agree, and moves the final block by epochs', async () => {
    await using stage = await open('evm')
    const { chain } = stage
    const [token = ''] = Object.keys(chain.tokens)
    const [payer, payee] = [chain.addressOf('payer'), chain.addressOf('payee')]
    chain.send(chain.txOf(1), { transfers: [{ token, payer, payee, units: 5_000_000n }] })
    chain.send(chain.txOf(2), { error: true })
    assert.ok(isTx('evm', chain.txOf(1)))
    assert.deepEqual(await stage.call('eth_getTransactionReceipt', chain.txOf(1)), result(null))
    stage.step(1_600_000)
    const receipt = await stage.call(
      'eth_getTransactionReceipt',
      chain.txOf(1).toUpperCase().replace('X', 'x'),
    )
    const number = at(receipt, 'result', 'blockNumber')
    const block = await stage.call('eth_getBlockByNumber', number, false)
    assert.equal(at(block, 'result', 'hash'), at(receipt, 'result', 'blockHash'))
    assert.deepEqual(at(block, 'result', 'transactions'), [chain.txOf(1), chain.txOf(2)])
    assert.equal(at(receipt, 'result', 'status'), '0x1')
    assert.equal(BigInt(String(at(receipt, 'result', 'logs', 0, 'data'))), 5_000_000n)
    assert.equal(at(receipt, 'result', 'logs', 0, 'address'), token.toLowerCase())
    assert.equal(at(await stage.call('eth_getTransactionReceipt', chain.txOf(2)), 'result', 'status'), '0x0')
    const final = Number(at(await stage.call('eth_getBlockByNumber', 'finalized', false), 'result', 'number'))
    assert.ok(final >= Number(number) && final % 32 === 0)
    assert.deepEqual(await stage.call('eth_getBlockByNumber', '0xffffff', false), result(null))
    assert.deepEqual(await stage.call('eth_chainId'), result(`0x${chain.chainId.toString(16)}`))
    const decimals = await stage.call('eth_call', { to: token, data: '0x313ce567' }, 'latest')
    assert.equal(BigInt(String(at(decimals, 'result'))), 6n)
    assert.deepEqual(await stage.call('eth_call', { to: payer, data: '0x313ce567' }, 'latest'), result('0x'))
  })

  test('answers a batch, and refuses as geth does', async () => {
    await using stage = await open('evm')
    const calls = [
      { jsonrpc: '2.0', id: 'a', method: 'eth_chainId' },
      { jsonrpc: '2.0', method: 'eth_chainId' },
      { jsonrpc: '2.0', id: 3, method: 'eth_getBlockByNumber', params: [] },
      { id: 4 },
    ]
    assert.deepEqual(await (await stage.post(calls)).json(), [
      { jsonrpc: '2.0', id: 'a', result: `0x${stage.chain.chainId.toString(16)}` },
      problem(-32_602, 'missing value for required argument 0', 3),
      problem(-32_600, 'Invalid request', 4),
    ])
    assert.deepEqual(await (await stage.post([])).json(), problem(-32_600, 'empty batch', null))
    assert.deepEqual(stage.rpc.calls(), { eth_chainId: 2, eth_getBlockByNumber: 1 })
    const short = await stage.call('eth_getTransactionReceipt', '0x12')
    assert.equal(at(short, 'error', 'code'), -32_602)
  })
})
