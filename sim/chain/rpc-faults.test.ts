import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ChainKind } from './chain-settings.ts'
import { openPretendChain, type PretendChain } from './pretend-chain.ts'
import type { FaultName, Faults } from './rpc-faults.ts'
import { openRpcServer } from './rpc-server.ts'

/** Time after which the tests give up an answer that must not come or not end. */
const IMPATIENCE_MS = 1_000
/** Time limit for any other answer: a busy machine is slow. */
const PATIENCE_MS = 30_000
const START = Date.UTC(2026, 0, 1)

/** Answer as a client sees it: HTTP status and body, or that there was none. */
type Seen = Readonly<{ status: number; text: string; headers: Headers }> | 'nothing'

async function ask(
  kind: ChainKind,
  faults: Faults,
  question: (chain: PretendChain) => unknown,
  patienceMs: number = PATIENCE_MS,
) {
  let moment = START
  const chain = openPretendChain({ kind, seed: 'test', now: () => moment })
  chain.send(chain.txOf(1))
  chain.send(chain.txOf(2), { error: 'AccountNotFound' })
  moment += kind === 'evm' ? 3_600_000 : 60_000
  chain.send(chain.txOf(3))
  moment += kind === 'evm' ? 24_000 : 800
  await using rpc = await openRpcServer({ chain, faults })
  const seen = await look(rpc.url, question(chain), patienceMs)
  return { seen, chain, fired: rpc.fired() }
}

async function look(url: string, body: unknown, patienceMs: number = PATIENCE_MS): Promise<Seen> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    })
    return { status: response.status, text: await response.text(), headers: response.headers }
  } catch {
    return 'nothing'
  }
}

const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })
const statuses = (chain: PretendChain) =>
  call('getSignatureStatuses', [1, 2, 3, 4].map(chain.txOf), { searchTransactionHistory: true })
const receipts = (chain: PretendChain) =>
  [1, 2, 3, 4].map((number) => ({ ...call('eth_getTransactionReceipt', chain.txOf(number)), id: number }))
const finalBlock = () => call('eth_getBlockByNumber', 'finalized', false)

/** Words in the answer with the fault that are not there without it; null for an answer that never comes whole. */
const CASES: readonly (readonly [ChainKind, Faults, (chain: PretendChain) => unknown, RegExp | null])[] = [
  ['solana', { down: true }, statuses, null],
  ['solana', { hangs: true }, statuses, null],
  ['solana', { slowMs: 2_000 }, statuses, null],
  ['solana', { endless: true }, statuses, null],
  ['solana', { cut: 'connection' }, statuses, null],
  ['solana', { cut: 'json' }, statuses, /^200 .*[^}]$/],
  ['solana', { status: 429, retryAfter: '7' }, statuses, /^429 .*"code":429/],
  ['evm', { status: 429 }, receipts, /^429 .*"code":-32005/],
  ['evm', { status: 502 }, receipts, /^502 <html>/],
  ['evm', { html: true }, receipts, /^200 <html>/],
  ['solana', { wrongId: 'other' }, statuses, /"id":"not 1"/],
  ['solana', { wrongId: 'null' }, statuses, /"id":null/],
  ['solana', { wrongId: 'string' }, statuses, /"id":"1"/],
  ['evm', { reversed: true }, receipts, /^200 \[{"jsonrpc":"2.0","id":4/],
  ['evm', { lengthOff: -1 }, receipts, /"id":3,[^]*}\]$/],
  ['solana', { lengthOff: -1 }, statuses, /^200 (?!.*null\]).*processed/],
  ['solana', { lengthOff: 2 }, statuses, /null,{/],
  ['solana', { batchMax: 3 }, statuses, /-32602.*max 3/],
  [
    'evm',
    { batchMax: 3 },
    receipts,
    /^200 \[{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"batch too large"}}\]$/,
  ],
  [
    'evm',
    { batchMax: 3, batchRefusal: 'erigon' },
    receipts,
    /^200 {.*batch limit 3 exceeded: 4 requests given/,
  ],
  ['evm', { batchMax: 3, batchRefusal: 'http-413' }, receipts, /^413 /],
  ['evm', { errorEvery: 2 }, receipts, /"id":2,"error":{"code":-32603/],
  ['solana', { lagMs: 10_000 }, statuses, /null,null\]/],
  ['solana', { lies: 'final' }, statuses, /^200 (?!.*processed).*finalized(?!.*null\])/],
  ['solana', { lies: 'success' }, statuses, /^200 (?!.*AccountNotFound)/],
  ['solana', { lies: 'failure' }, statuses, /GenericError/],
  ['evm', { lies: 'final' }, receipts, /^200 (?!.*"result":null)/],
  ['solana', { blockShift: 1 }, statuses, /^200 /],
  ['evm', { forkFrom: 10 }, receipts, /^200 /],
  ['evm', { finalBehind: 100 }, finalBlock, /^200 /],
  ['solana', { historyMs: 30_000 }, statuses, /\[null,null,{/],
  ['evm', { historyMs: 1_000 }, finalBlock, /4444/],
  ['solana', { noHistory: true }, statuses, /-32011/],
  ['evm', { finalizedTag: 'invalid' }, finalBlock, /-32602/],
  ['evm', { finalizedTag: 'missing' }, finalBlock, /-32000/],
  ['evm', { finalizedTag: 'unknown-block' }, finalBlock, /-39001/],
  ['evm', { finalizedTag: 'null' }, finalBlock, /"result":null/],
  ['solana', { otherChain: true }, () => call('getGenesisHash'), /^200 /],
  ['evm', { otherChain: true }, () => call('eth_chainId'), /^200 /],
  ['solana', { unhealthy: true }, statuses, /-32005.*numSlotsBehind/],
  ['evm', { unhealthy: true }, receipts, /indexing is in progress/],
]

suite('a fault of a pretend RPC server', { concurrency: 8 }, () => {
  for (const [kind, faults, question, words] of CASES) {
    test(`shows and is counted: ${kind} ${JSON.stringify(faults)}`, async () => {
      const sound = await ask(kind, {}, question)
      const { seen, fired } = await ask(kind, faults, question, words === null ? IMPATIENCE_MS : PATIENCE_MS)
      assert.ok(sound.seen !== 'nothing')
      assert.deepEqual(sound.fired, {})
      const name = Object.keys(faults)[0] as FaultName
      assert.ok((fired[name] ?? 0) > 0, JSON.stringify(fired))
      if (words === null) return assert.equal(seen, 'nothing')
      assert.ok(seen !== 'nothing')
      const [usual, faulty] = [sound.seen, seen].map(
        ({ status, text }) => `${status} ${text.replaceAll('\n', ' ')}`,
      )
      assert.notEqual(faulty, usual)
      assert.match(faulty ?? '', words)
    })
  }

  test('tells how long to wait when it is asked to', async () => {
    const { seen } = await ask('solana', { status: 429, retryAfter: '7' }, statuses)
    assert.equal(seen === 'nothing' ? null : seen.headers.get('retry-after'), '7')
  })

  test('can be of each request, and can lie about some transactions only', async () => {
    let turn = 0
    const chain = openPretendChain({ kind: 'solana', seed: 'test', now: () => START })
    const faults = (): Faults =>
      turn++ === 0 ? { status: 500 } : { lies: 'final', liesAbout: (tx) => tx === chain.txOf(2) }
    await using rpc = await openRpcServer({ chain, faults, path: '/key' })
    const first = await look(rpc.url, statuses(chain))
    const second = await look(rpc.url, statuses(chain))
    assert.ok(first !== 'nothing' && second !== 'nothing')
    assert.equal(first.status, 500)
    assert.match(second.text, /\[null,{"confirmationStatus":"finalized".*},null,null\]/)
    assert.deepEqual(rpc.fired(), { status: 1, lies: 1 })
    assert.equal(rpc.requests(), 2)
    rpc.setFaults({})
    assert.match(JSON.stringify(await look(rpc.url, statuses(chain))), /\[null,null,null,null\]/)
  })

  test('ends with the server, which comes back on the same port', async () => {
    const chain = openPretendChain({ kind: 'solana', seed: 'test', now: () => START })
    const rpc = await openRpcServer({ chain, faults: { hangs: true } })
    const hanging = look(rpc.url, statuses(chain))
    await rpc.close()
    assert.equal(await hanging, 'nothing')
    await using again = await openRpcServer({ chain, port: rpc.port })
    assert.equal(again.url, rpc.url)
    assert.notEqual(await look(again.url, statuses(chain)), 'nothing')
  })
})
