import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type CannedResults, openCannedClient } from '../../../test/finality/canned-client.ts'

// The answers below have the fields, types and special values of the examples in the public documentation of both
// chains (solana.com/docs/rpc/http, ethereum.org/developers/docs/apis/json-rpc). Values are ours.

const SIGNATURE = '4Nd1mY1KkW6zUwz5gGZ9VQn3XQyJ7gUqV6k1FQm9cJ3vYt5oT7sRr1hB2dXeLpZaGfWuNqCkMiSjPbEvHxDyAoTz'
const WALLET = '7GgPYjS5Dza89wV6FpZ23kUJRG5vbQ1GM25ezspYFSoE'
const MINT = 'Fv9kqXrUeQ1jGv1bTqN6o4dJm8S3zB5hY7wLcPpK2aRt'
const GENESIS = { getGenesisHash: '8GZt5cKqjYvVfQw1mHn7pXaLrUeBd3sT2oRkNyWiCbJh' }

const statuses = (...value: readonly unknown[]): CannedResults => ({
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
    const { client } = await openCannedClient('solana', statuses())
    assert.equal(await client.identify(GENESIS.getGenesisHash), GENESIS.getGenesisHash)
  })

  test('of getSignatureStatuses gives a verdict for each signature', async () => {
    const { client } = await openCannedClient('solana', statuses(FINALIZED, null))
    assert.deepEqual(await client.ask([SIGNATURE, 'other']), [
      { is: 'final', place: 'slot 57' },
      { is: 'unknown' },
    ])
  })

  test('about a failed transaction has the error as an object or a word', async () => {
    const inner = { InstructionError: [0, { Custom: 1 }] }
    const failed = (err: unknown) => ({ ...FINALIZED, err, status: { Err: err } })
    const { client } = await openCannedClient('solana', statuses(failed(inner), failed('AccountNotFound')))
    assert.deepEqual(await client.ask(['a', 'b']), [
      { is: 'failed', place: 'slot 57', reason: '{"InstructionError":[0,{"Custom":1}]}' },
      { is: 'failed', place: 'slot 57', reason: 'AccountNotFound' },
    ])
  })

  const NO_ERRORS: readonly unknown[] = [
    {},
    [],
    '',
    undefined,
    false,
    0,
    'null',
    'Ok',
    'SomethingNew',
    { Ok: null },
    { SomethingNew: 1 },
    { InstructionError: null },
    { InstructionError: [] },
    { InstructionError: [0] },
    { InstructionError: [0, {}] },
    { InstructionError: [0, ''] },
    { InstructionError: [0, { Custom: 1 }], DuplicateInstruction: 1 },
    { InsufficientFundsForRent: {} },
    // These tell of an attempt. The transaction may have succeeded before, or may succeed later.
    'AlreadyProcessed',
    'BlockhashNotFound',
    'AccountInUse',
  ]
  for (const err of NO_ERRORS) {
    test(`with ${JSON.stringify(err)} as its error is no answer`, async () => {
      const { client, faults } = await openCannedClient('solana', statuses({ ...FINALIZED, err }))
      assert.deepEqual(await client.ask(['a']), [{ is: 'unsure' }])
      assert.deepEqual(faults, ['wrong-type'])
    })
  }

  test('with every error of a transaction in a block is the word that it failed', async () => {
    for (const err of [
      'InsufficientFundsForFee',
      'InvalidRentPayingAccount',
      'MaxLoadedAccountsDataSizeExceeded',
      { DuplicateInstruction: 3 },
      { InsufficientFundsForRent: { account_index: 2 } },
      { ProgramExecutionTemporarilyRestricted: { account_index: 0 } },
      { InstructionError: [255, 'GenericError'] },
      { InstructionError: [1, { Custom: 4_294_967_295 }] },
      { InstructionError: [1, { BorshIoError: 'Unknown' }] },
    ]) {
      const { client } = await openCannedClient('solana', statuses({ ...FINALIZED, err }))
      const [verdict] = await client.ask(['a'])
      assert.equal(verdict?.is, 'failed', JSON.stringify(err))
    }
  })

  test('about a transaction that is not final waits, even with an error', async () => {
    const young = { ...FINALIZED, confirmations: 10 }
    const { client } = await openCannedClient(
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
    const { client } = await openCannedClient('solana', { ...GENESIS, getTransaction: transaction })
    assert.deepEqual(await client.moved(SIGNATURE, { payer: WALLET, token: MINT }), {
      units: 250_000n,
      decimals: 6,
    })
  })
})

const HASH = `0x${'a1'.repeat(32)}`
const BLOCK_HASH = `0x${'b2'.repeat(32)}`
const PAYER = `0x${'c3'.repeat(20)}`
const CONTRACT = `0x${'d4'.repeat(20)}`
const topicOf = (address: string): string => `0x${'00'.repeat(12)}${address.slice(2)}`

const block = (number: string, hash: string) => ({
  baseFeePerGas: '0x7',
  difficulty: '0x0',
  extraData: '0x',
  gasLimit: '0x1c9c380',
  gasUsed: '0x79ccd3',
  hash,
  logsBloom: `0x${'00'.repeat(256)}`,
  miner: PAYER,
  mixHash: HASH,
  nonce: '0x0000000000000000',
  number,
  parentHash: HASH,
  receiptsRoot: HASH,
  sha3Uncles: HASH,
  size: '0x41c7',
  stateRoot: HASH,
  timestamp: '0x63194e87',
  totalDifficulty: '0x78ed983323d',
  transactions: [HASH],
  transactionsRoot: HASH,
  uncles: [],
  withdrawals: [],
})

const RECEIPT = {
  blockHash: BLOCK_HASH,
  blockNumber: '0xeff35f',
  contractAddress: null,
  cumulativeGasUsed: '0xa12515',
  effectiveGasPrice: '0x5a9c688d4',
  from: PAYER,
  gasUsed: '0xb4c8',
  logs: [
    {
      address: CONTRACT,
      blockHash: BLOCK_HASH,
      blockNumber: '0xeff35f',
      data: `0x${'00'.repeat(30)}3039`,
      logIndex: '0x12',
      removed: false,
      topics: [
        '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
        topicOf(PAYER),
        topicOf(`0x${'e5'.repeat(20)}`),
      ],
      transactionHash: HASH,
      transactionIndex: '0x4',
    },
  ],
  logsBloom: `0x${'00'.repeat(256)}`,
  status: '0x1',
  to: CONTRACT,
  transactionHash: HASH,
  transactionIndex: '0x4',
  type: '0x2',
}

const evm = (receipt: object | null): CannedResults => ({
  eth_chainId: '0x539',
  'eth_getBlockByNumber finalized': block('0xeff37f', HASH),
  'eth_getBlockByNumber 0xeff35f': block('0xeff35f', BLOCK_HASH),
  eth_getTransactionReceipt: receipt,
  eth_call: `0x${'00'.repeat(31)}12`,
})

suite('an answer in the form of the public documentation of Ethereum', () => {
  test('of eth_chainId is the id of the chain in decimal digits', async () => {
    const { client } = await openCannedClient('evm', evm(null))
    assert.equal(await client.identify('1337'), '1337')
  })

  test('of eth_getTransactionReceipt and eth_getBlockByNumber gives a verdict', async () => {
    const place = `block 15725407 ${BLOCK_HASH}`
    const verdictOf = async (receipt: object | null) =>
      (await openCannedClient('evm', evm(receipt))).client.ask([HASH])
    assert.deepEqual(await verdictOf(RECEIPT), [{ is: 'final', place }])
    assert.deepEqual(await verdictOf({ ...RECEIPT, status: '0x0' }), [
      { is: 'failed', place, reason: 'the transaction was reverted' },
    ])
    assert.deepEqual(await verdictOf(null), [{ is: 'unknown' }])
    assert.deepEqual(await verdictOf({ ...RECEIPT, blockNumber: '0xeff380' }), [{ is: 'waiting' }])
  })

  test('without a status, as before the Byzantium fork, is unsure', async () => {
    const { status: _, ...old } = RECEIPT
    const { client, faults } = await openCannedClient('evm', evm({ ...old, root: HASH }))
    assert.deepEqual(await client.ask([HASH]), [{ is: 'unsure' }])
    assert.deepEqual(faults, [])
  })

  test('with a log of Transfer and eth_call of decimals gives what the payer moved', async () => {
    const { client } = await openCannedClient('evm', evm(RECEIPT))
    const moved = await client.moved(HASH, { payer: PAYER, token: CONTRACT })
    assert.deepEqual(moved, { units: 12_345n, decimals: 18 })
  })
})
