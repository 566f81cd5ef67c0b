import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type CannedResults, openCannedClient } from '../../../test/finality/canned-client.ts'
import type { RpcFault } from '../rpc/rpc-failure.ts'

const hash = (digit: string): string => `0x${digit.repeat(64)}`
const TX = hash('c')
const FINALIZED = { number: '0x10', hash: hash('a') }
const BLOCK = { number: '0x5', hash: hash('b') }
const RECEIPT = { transactionHash: TX, blockNumber: '0x5', blockHash: hash('b'), status: '0x1', logs: [] }

const evm = (more: CannedResults = {}): CannedResults => ({
  eth_chainId: '0x1',
  'eth_getBlockByNumber finalized': FINALIZED,
  'eth_getBlockByNumber 0x5': BLOCK,
  eth_getTransactionReceipt: RECEIPT,
  ...more,
})

const receipt = (fields: object): CannedResults => ({ eth_getTransactionReceipt: { ...RECEIPT, ...fields } })
const blockAt = (fields: object | null): CannedResults => ({
  'eth_getBlockByNumber 0x5': fields === null ? null : { ...BLOCK, ...fields },
})

const EVM: readonly (readonly [what: string, results: CannedResults, fault: RpcFault])[] = [
  ['a receipt of another transaction', receipt({ transactionHash: hash('d') }), 'contradiction'],
  ['a receipt in a block that is not of the chain', receipt({ blockHash: hash('d') }), 'contradiction'],
  ['a block with another number', blockAt({ number: '0x6' }), 'contradiction'],
  [
    'another block at the finalized number',
    receipt({ blockNumber: '0x10', blockHash: hash('e') }),
    'contradiction',
  ],
  ['no block at the number of the receipt', blockAt(null), 'lagging'],
  ['a pending block without a hash', blockAt({ hash: null }), 'wrong-type'],
  ['a status that is neither 0 nor 1', receipt({ status: '0x2' }), 'wrong-type'],
  ['a status that is a number', receipt({ status: 1 }), 'wrong-type'],
  ['a status that is no number', receipt({ status: 'ok' }), 'wrong-type'],
  ['a block number that is no quantity', receipt({ blockNumber: '0x05' }), 'wrong-type'],
  ['a block number above 2^53', receipt({ blockNumber: '0x20000000000000' }), 'wrong-type'],
  ['a hash of another length', receipt({ blockHash: '0xb' }), 'wrong-type'],
  ['a receipt without logs', receipt({ logs: null }), 'wrong-type'],
  ['a list in place of the receipt', { eth_getTransactionReceipt: [] }, 'wrong-type'],
]

suite('a server of EVM', () => {
  test('is asked for the finalized block, then the receipts, then their blocks', async () => {
    const { client, sent } = await openCannedClient('evm', evm())
    assert.deepEqual(await client.ask([TX]), [{ is: 'final', place: `block 5 ${hash('b')}` }])
    assert.deepEqual(sent, [
      ['eth_getBlockByNumber'],
      ['eth_getTransactionReceipt'],
      ['eth_getBlockByNumber'],
    ])
  })

  test('finds a transaction final in the finalized block itself, and not in the next one', async () => {
    const last = { number: '0x10', hash: hash('a') }
    const inLast = {
      ...receipt({ blockNumber: '0x10', blockHash: hash('a') }),
      'eth_getBlockByNumber 0x10': last,
    }
    const { client } = await openCannedClient('evm', evm(inLast))
    assert.equal((await client.ask([TX]))[0]?.is, 'final')
    const next = await openCannedClient('evm', evm(receipt({ blockNumber: '0x11' })))
    assert.deepEqual(await next.client.ask([TX]), [{ is: 'waiting' }])
  })

  for (const [what, results, fault] of EVM) {
    test(`gives no vote with ${what}`, async () => {
      const others = { 'eth_getBlockByNumber 0x10': { number: '0x10', hash: hash('e') } }
      const { client, faults } = await openCannedClient('evm', evm({ ...others, ...results }))
      assert.deepEqual(await client.ask([TX]), [{ is: 'unsure' }])
      assert.deepEqual(faults, [fault])
    })
  }
})

const STATUS = { slot: 5, confirmations: null, err: null, confirmationStatus: 'finalized' }
const solana = (value: unknown, slot: unknown = 10): CannedResults => ({
  getGenesisHash: '8GZt5cKqjYvVfQw1mHn7pXaLrUeBd3sT2oRkNyWiCbJh',
  getSignatureStatuses: { context: { slot }, value },
})
const { err: _err, ...WITHOUT_ERR } = STATUS

const SOLANA: readonly (readonly [what: string, results: CannedResults, fault: RpcFault])[] = [
  ['a slot that it has not reached', solana([{ ...STATUS, slot: 11 }]), 'contradiction'],
  ['a slot that is no integer', solana([{ ...STATUS, slot: 5.5 }]), 'wrong-type'],
  ['a slot below zero', solana([{ ...STATUS, slot: -5 }]), 'wrong-type'],
  ['a slot as text', solana([{ ...STATUS, slot: '5' }]), 'wrong-type'],
  ['no word about an error', solana([WITHOUT_ERR]), 'wrong-type'],
  ['an error that is false', solana([{ ...STATUS, err: false }]), 'wrong-type'],
  ['an unknown status', solana([{ ...STATUS, confirmationStatus: 'rooted' }]), 'wrong-type'],
  ['no status', solana([{ slot: 5, confirmations: null, err: null }]), 'wrong-type'],
  ['text in place of the status', solana(['finalized']), 'wrong-type'],
  ['no list', solana({ 0: STATUS }), 'wrong-type'],
  ['two statuses for one signature', solana([STATUS, STATUS]), 'wrong-length'],
  ['no status for a signature', solana([]), 'wrong-length'],
  ['no slot of its own', solana([STATUS], null), 'wrong-type'],
]

suite('a server of Solana', () => {
  test('gives a vote with a status in its newest slot', async () => {
    const { client } = await openCannedClient('solana', solana([{ ...STATUS, slot: 10 }]))
    assert.deepEqual(await client.ask(['a']), [{ is: 'final', place: 'slot 10' }])
  })

  for (const confirmationStatus of ['processed', 'confirmed', null]) {
    test(`waits with the status ${confirmationStatus}, and says so in its answer`, async () => {
      const { client } = await openCannedClient('solana', solana([{ ...STATUS, confirmationStatus }]))
      const seen: unknown[] = []
      const verdicts = await client.ask(['a'], (tx, answers) => seen.push([tx, answers]))
      assert.deepEqual(verdicts, [{ is: 'waiting' }])
      const stage = `${confirmationStatus ?? 'without a status'} in slot 5`
      const ballot = { vote: { is: 'waiting', stage }, head: 10 }
      assert.deepEqual(seen, [['a', [{ server: 'URL 1 (rpc.example)', ballot, failure: null }]]])
    })
  }

  for (const [what, results, fault] of SOLANA) {
    test(`gives no vote with ${what}`, async () => {
      const { client, faults } = await openCannedClient('solana', results)
      assert.deepEqual(await client.ask(['a']), [{ is: 'unsure' }])
      assert.deepEqual(faults, [fault])
    })
  }

  test('loses only the vote of the one status that is wrong', async () => {
    const { client } = await openCannedClient('solana', solana([STATUS, 5, STATUS]))
    assert.deepEqual(
      (await client.ask(['a', 'b', 'c'])).map(({ is }) => is),
      ['final', 'unsure', 'final'],
    )
  })

  test('gives the error of a failed transaction in one bounded line of plain characters', async () => {
    const err = { InstructionError: [0, { BorshIoError: `line\n\u202e${'word '.repeat(200)}` }] }
    const { client } = await openCannedClient('solana', solana([{ ...STATUS, err }]))
    const [verdict] = await client.ask(['a'])
    assert.ok(verdict?.is === 'failed')
    assert.match(verdict.reason, /^[\x20-\x7e]{200}$/)
  })
})
