import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ChainKind, Fate } from '../../../sim/chain/chain-settings.ts'
import { openPretendChain } from '../../../sim/chain/pretend-chain.ts'
import type { Faults } from '../../../sim/chain/rpc-faults.ts'
import { type ChainStage, FINAL_MS, openChainStage } from '../../../test/finality/chain-stage.ts'
import { type CannedResults, openCannedClient } from '../../../test/finality/canned-client.ts'
import type { RpcFault } from '../rpc/rpc-failure.ts'
import type { MovedAmount } from './tx-verdict.ts'

const { addressOf: solanaAddress } = openPretendChain({ kind: 'solana', seed: 'names', now: () => 0 })
const { addressOf: evmAddress } = openPretendChain({ kind: 'evm', seed: 'names', now: () => 0 })

for (const kind of ['solana', 'evm'] as const) {
  const addressOf = kind === 'solana' ? solanaAddress : evmAddress
  const [payer, token, other] = ['payer', 'token', 'other token'].map(addressOf) as [string, string, string]
  const account = { payer, token }
  const tokens = { [token]: 9, [other]: 6 }
  const transfer = (payee: string, units: bigint, of = token, from = payer) => ({
    token: of,
    payer: from,
    payee: addressOf(payee),
    units,
  })

  const paid = async (fate: Fate, faults: readonly Faults[] = [{}]): Promise<ChainStage> => {
    const stage = await openChainStage(kind, faults, { tokens })
    stage.chain.send(stage.chain.txOf(1), fate)
    stage.step(FINAL_MS)
    await stage.client.identify(null)
    return stage
  }
  const movedBy = async (fate: Fate, faults?: readonly Faults[]): Promise<MovedAmount | null> => {
    await using stage = await paid(fate, faults)
    // The servers close at the return.
    return await stage.client.moved(stage.chain.txOf(1), account)
  }

  suite(`the amount that a payer moved on ${kind}`, () => {
    test('is the exact sum of all that left its accounts', async () => {
      const transfers = [transfer('a', 2n ** 53n + 1n), transfer('b', 5n), transfer('a', 1n)]
      assert.deepEqual(await movedBy({ transfers }), { units: 2n ** 53n + 7n, decimals: 9 })
    })

    test('counts neither other tokens nor other payers', async () => {
      const transfers = [
        transfer('a', 5n),
        transfer('a', 7n, other),
        transfer('b', 9n, token, addressOf('c')),
      ]
      assert.deepEqual(await movedBy({ transfers }), { units: 5n, decimals: 9 })
      const foreign = await movedBy({ transfers: [transfer('a', 7n, other)] })
      assert.equal(foreign?.units, 0n)
    })

    test('leaves out what comes back in the same transaction, and what the payer sends to itself', async () => {
      const back = transfer('payer', 3n, token, addressOf('a'))
      const self = transfer('payer', 100n)
      assert.deepEqual(await movedBy({ transfers: [transfer('a', 5n), back, self] }), {
        units: 2n,
        decimals: 9,
      })
      assert.deepEqual(await movedBy({ transfers: [back] }), { units: 0n, decimals: 9 })
    })

    test('is unsure for a transaction that failed, is not final or does not exist', async () => {
      const transfers = [transfer('a', 5n)]
      assert.equal(
        await movedBy({
          transfers,
          error: kind === 'solana' ? { InstructionError: [0, 'GenericError'] } : true,
        }),
        null,
      )
      assert.equal(await movedBy({ transfers, landsAfterMs: null }), null)
      assert.equal(
        await movedBy({ transfers, landsAfterMs: FINAL_MS - (kind === 'solana' ? 4_000 : 60_000) }),
        null,
      )
    })

    test('asks for the decimals of a token once', async () => {
      await using stage = await paid({ transfers: [transfer('a', 5n)] })
      for (let asked = 0; asked < 3; asked++) await stage.client.moved(stage.chain.txOf(1), account)
      assert.equal(stage.servers[0]?.calls()['eth_call'] ?? 1, 1)
    })

    test('needs two servers that agree on amount and place', async () => {
      const transfers = [transfer('a', 5n)]
      const moved = { units: 5n, decimals: 9 }
      assert.deepEqual(await movedBy({ transfers }, [{}, {}, { down: true }]), moved)
      assert.deepEqual(await movedBy({ transfers }, [{}, {}, { blockShift: 1 }]), moved)
      assert.equal(await movedBy({ transfers }, [{}, { down: true }, { blockShift: 1 }]), null)
      assert.equal(await movedBy({ transfers }, [{}, { historyMs: 1_000 }]), null)
    })

    test('names the server whose amount or place is another one than that of two', async () => {
      await using stage = await paid({ transfers: [transfer('a', 5n)] }, [{}, { blockShift: 1 }, {}])
      await stage.client.moved(stage.chain.txOf(1), account)
      assert.deepEqual(stage.faults, ['2 outvoted'])
    })
  })
}

/** Amount that one server's answers make, and the faults that it is reported for. */
async function movedIn(
  chain: ChainKind,
  results: Readonly<Record<string, unknown>>,
  account: { payer: string; token: string },
): Promise<readonly [MovedAmount | null, readonly RpcFault[]]> {
  const { client, faults } = await openCannedClient(chain, results)
  return [await client.moved(chain === 'evm' ? `0x${'c'.repeat(64)}` : 'tx', account), faults]
}

suite('balances of Solana', () => {
  type Balance = Readonly<Record<string, unknown>>
  const balance = (
    accountIndex: number,
    owner: string | undefined,
    amount: unknown,
    decimals = 6,
  ): Balance => ({
    accountIndex,
    mint: 'mint',
    ...(owner === undefined ? {} : { owner }),
    uiTokenAmount: { amount, decimals },
  })
  const moved = (pre: readonly Balance[] | null, post: readonly Balance[] | null) => {
    const getTransaction = {
      slot: 5,
      meta: { err: null, preTokenBalances: pre, postTokenBalances: post },
      transaction: { signatures: ['tx'] },
    }
    const genesis = solanaAddress('genesis')
    return movedIn('solana', { getGenesisHash: genesis, getTransaction }, { payer: 'me', token: 'mint' })
  }

  test('of several accounts of the payer are added, and an account that is opened or closed counts', async () => {
    const before = [balance(1, 'me', '18446744073709551615'), balance(2, 'me', '5'), balance(4, 'you', '1')]
    const after = [balance(1, 'me', '18446744073709551000'), balance(3, 'me', '2'), balance(4, 'you', '619')]
    assert.deepEqual(await moved(before, after), [{ units: 618n, decimals: 6 }, []])
  })

  test('of an account that the payer gives away count as moved', async () => {
    assert.deepEqual(await moved([balance(1, 'me', '5')], [balance(1, 'you', '5')]), [
      { units: 5n, decimals: 6 },
      [],
    ])
  })

  test('without the token move nothing', async () => {
    assert.deepEqual(await moved([], []), [{ units: 0n, decimals: 0 }, []])
  })

  test('of another transaction are not counted', async () => {
    const getTransaction = {
      slot: 5,
      meta: { err: null, preTokenBalances: [], postTokenBalances: [] },
      transaction: { signatures: ['other'] },
    }
    assert.deepEqual(
      await movedIn(
        'solana',
        { getGenesisHash: solanaAddress('genesis'), getTransaction },
        { payer: 'me', token: 'mint' },
      ),
      [null, ['contradiction']],
    )
  })

  test('that two servers count differently for one place are not counted', async () => {
    const answers = (units: string): CannedResults => ({
      getGenesisHash: solanaAddress('genesis'),
      getTransaction: {
        slot: 5,
        meta: { err: null, preTokenBalances: [balance(1, 'me', units)], postTokenBalances: [] },
        transaction: { signatures: ['tx'] },
      },
    })
    const account = { payer: 'me', token: 'mint' }
    const two = await openCannedClient('solana', answers('5'), answers('6'))
    assert.equal(await two.client.moved('tx', account), null)
    const three = await openCannedClient('solana', answers('5'), answers('6'), answers('5'))
    assert.deepEqual(await three.client.moved('tx', account), { units: 5n, decimals: 6 })
  })

  test('in another form are not counted', async () => {
    const good = balance(1, 'me', '5')
    const wrong: readonly (readonly [Balance[] | null, RpcFault])[] = [
      [null, 'wrong-type'],
      [[balance(1, undefined, '5')], 'wrong-type'],
      [[balance(1, 'me', 5)], 'wrong-type'],
      [[balance(1, 'me', '-5')], 'wrong-type'],
      [[balance(1, 'me', '5.0')], 'wrong-type'],
      [[balance(1, 'me', '5', 2.5)], 'wrong-type'],
      [[balance(1, 'me', '5', 7)], 'contradiction'],
      [[good, good], 'contradiction'],
    ]
    for (const [after, fault] of wrong) assert.deepEqual(await moved([good], after), [null, [fault]])
  })
})

suite('logs of EVM', () => {
  const hash = (digit: string): string => `0x${digit.repeat(64)}`
  const [token, payer] = [evmAddress('token'), evmAddress('payer')]
  const topic = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`
  const log = (fields: object = {}): object => ({
    address: token,
    topics: [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      topic(payer),
      topic(evmAddress('payee')),
    ],
    data: `0x${'0'.repeat(62)}ff`,
    removed: false,
    ...fields,
  })
  const moved = (logs: readonly unknown[], decimals: unknown = `0x${'0'.repeat(62)}12`) =>
    movedIn(
      'evm',
      {
        eth_chainId: '0x1',
        eth_getBlockByNumber: { number: '0x10', hash: hash('a') },
        eth_getTransactionReceipt: {
          transactionHash: hash('c'),
          blockNumber: '0x5',
          blockHash: hash('b'),
          status: '0x1',
          logs,
        },
        eth_call: decimals,
      },
      { payer, token },
    )

  test('of several transfers are added, up to 256 bits', async () => {
    const big = log({ data: `0x${'0'.repeat(31)}1${'0'.repeat(32)}` })
    assert.deepEqual(await moved([log(), big, log()]), [{ units: 2n ** 128n + 510n, decimals: 18 }, []])
  })

  test('of other contracts and other events are left out', async () => {
    const approval = log({ topics: [hash('8'), topic(payer), topic(payer)] })
    const foreign = log({ address: evmAddress('other') })
    const strange = log({ address: evmAddress('other'), topics: 'none', data: 5 })
    assert.deepEqual(await moved([approval, foreign, strange]), [{ units: 0n, decimals: 18 }, []])
  })

  test('in another form are not counted', async () => {
    const [transfer = '', from = ''] = (log() as { topics: string[] }).topics
    const wrong: readonly unknown[] = [
      log({ topics: [transfer, from] }),
      log({ topics: [transfer, from, from, hash('1')] }),
      log({ data: '0x' }),
      log({ data: `0x${'0'.repeat(65)}` }),
      log({ removed: true }),
      log({ address: null }),
      'log',
    ]
    for (const strange of wrong) assert.deepEqual(await moved([log(), strange]), [null, ['wrong-type']])
  })

  test('of a contract without decimals are not counted', async () => {
    assert.deepEqual(await moved([log()], '0x'), [null, ['wrong-type']])
    assert.deepEqual(await moved([log()], hash('f')), [null, ['wrong-type']])
  })
})
