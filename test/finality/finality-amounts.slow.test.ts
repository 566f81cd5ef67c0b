import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ChainKind } from '../../sim/chain/chain-settings.ts'
import { addressIn } from '../../sim/chain/pretend-chain.ts'
import { FINAL_MS, type FinalityStage, openFinalityStage, PAYING, RPC_KEY } from './finality-stage.ts'

const MORE = 'daybook_finality_amounts_more_total'
const LESS = 'daybook_finality_amounts_less_total'
const payout = (ref: string, tx: string, kots: string) => ({
  ref,
  type: 'payout',
  kind: 'winner',
  contestId: 1,
  kots,
  tx,
})

type AmountsStage = FinalityStage &
  Readonly<{
    /** Sends a transaction that moves so many units of the token, of six decimals. */
    pay(tx: string, units: bigint): void
    /** Lines of payouts. */
    payouts(): readonly string[]
    secrets: readonly string[]
  }>

async function openStage(kind: ChainKind): Promise<AmountsStage> {
  const [payer, token, payee] = ['payer', 'token', 'payee'].map((name) => addressIn(kind, name))
  assert.ok(payer !== undefined && token !== undefined && payee !== undefined)
  const stage = await openFinalityStage({ kind, rpcs: 3, amounts: { payer, token }, tokens: { [token]: 6 } })
  const began = await stage.publish(...PAYING)
  assert.equal(began.status, 200, began.text)
  return {
    ...stage,
    pay: (tx, units) => stage.chain.send(tx, { transfers: [{ token, payer, payee, units }] }),
    payouts: () => stage.lines().filter((line) => line.includes('"type":"payout"')),
    secrets: [payer, token, payee],
  }
}

for (const kind of ['solana', 'evm'] satisfies ChainKind[]) {
  suite(`amounts on ${kind}`, () => {
    test('are published when the payouts of a transaction name what it moved, one or several', async () => {
      await using stage = await openStage(kind)
      const [one, several] = [stage.chain.txOf(1), stage.chain.txOf(2)]
      await stage.publish(payout('a', one, '10'), payout('b', several, '2.5'), payout('c', several, '2.5'))
      stage.pay(one, 10_000_000n)
      stage.pay(several, 5_000_000n)
      stage.advance(FINAL_MS)
      await stage.until('all are published', () => stage.payouts().length === 3)
      assert.equal(await stage.metric(MORE), 0)
      assert.equal(await stage.metric(LESS), 0)
    })

    test('that exceed what was moved hold all its drafts, with a reason that names no address', async () => {
      await using stage = await openStage(kind)
      const tx = stage.chain.txOf(1)
      await stage.publish(payout('a', tx, '6'), payout('b', tx, '5'))
      stage.pay(tx, 10_000_000n)
      stage.advance(FINAL_MS)
      await stage.until('it is counted', async () => (await stage.metric(MORE)) === 1)
      assert.match(stage.logged(), /"fact":"amounts-more","drafts":\[1,2\]/)
      await stage.asked()
      assert.equal(stage.payouts().length, 0)
      const [listed, metrics] = [await stage.held(), await stage.metrics()]
      const reason = 'payouts of this transaction name 11.000000000, and it moved 10.000000000'
      assert.equal(listed.split(reason).length, 3, listed)
      for (const secret of stage.secrets) {
        assert.ok(!stage.logged().includes(secret), 'no address is logged')
        assert.ok(!metrics.includes(secret), 'no address is in a metric')
        assert.ok(!listed.includes(secret), 'no address is listed')
      }
      await stage.decide('drop', ['b'], 'named twice')
      await stage.until('the other is published', () => stage.payouts().length === 1)
    })

    test('count what was published before, and not what was corrected', async () => {
      await using stage = await openStage(kind)
      const tx = stage.chain.txOf(1)
      await stage.publish(payout('a', tx, '6'))
      stage.pay(tx, 10_000_000n)
      stage.advance(FINAL_MS)
      await stage.until('the first is published', () => stage.payouts().length === 1)
      assert.equal(await stage.metric(LESS), 1)
      assert.match(stage.logged(), /"fact":"amounts-less","drafts":\[1\]/)
      await stage.publish(payout('b', tx, '10'))
      await stage.until('it is counted', async () => (await stage.metric(MORE)) === 1)
      assert.equal(stage.payouts().length, 1)
      const [line = ''] = stage.payouts()
      const { seq } = JSON.parse(line) as { seq: number }
      const corrected = await stage.publish({
        ref: 'correction',
        type: 'correction',
        kind: 'payout',
        contestId: 1,
        kots: '-6',
        details: { corrects: seq },
      })
      assert.equal(corrected.drafts[0]?.status, 'published', corrected.text)
      await stage.until('the other is published', () => stage.payouts().length === 2)
    })

    test('hold a payout whose transaction moved nothing of the token', async () => {
      await using stage = await openStage(kind)
      const tx = stage.chain.txOf(1)
      await stage.publish(payout('a', tx, '0.000000001'))
      stage.chain.send(tx)
      stage.advance(FINAL_MS)
      await stage.until('it is counted', async () => (await stage.metric(MORE)) === 1)
      assert.match(stage.logged(), /"fact":"amounts-more"/)
      assert.doesNotMatch(stage.logged(), /0\.000000001/, 'no amount is logged')
      assert.equal(stage.payouts().length, 0)
    })
  })
}

suite('amounts on solana', () => {
  test('are those of every version of a transaction', async () => {
    await using stage = await openStage('solana')
    const txs = Array.from({ length: 12 }, (_, number) => stage.chain.txOf(number))
    await stage.publish(...txs.map((tx, number) => payout(`p${number}`, tx, '1')))
    for (const tx of txs) stage.pay(tx, 1_000_000n)
    stage.advance(FINAL_MS)
    await stage.until('all are published', () => stage.payouts().length === txs.length)
  })

  test('that a server does not give are told with its code and its words, without a key or an address', async () => {
    await using stage = await openStage('solana')
    for (const server of stage.rpcs) server.setFaults({ versionMax: -1 })
    const txs = Array.from({ length: 12 }, (_, number) => stage.chain.txOf(number))
    await stage.publish(...txs.map((tx, number) => payout(`p${number}`, tx, '1')))
    for (const tx of txs) stage.pay(tx, 1_000_000n)
    stage.advance(FINAL_MS)
    const refused = 'daybook_finality_rpc_errors_total{rpc="1",fault="refused",code="-32015"}'
    await stage.until('it is counted', async () => (await stage.metric(refused)) > 0)
    const line =
      stage
        .logged()
        .split('\n')
        .find((one) => one.includes('"rpcCode":"-32015"')) ?? ''
    assert.match(line, /"fact":"rpc-fault".*"serverWords":"Transaction version \([01]\) is not supported by/)
    assert.match(line, /maxSupportedTransactionVersion/)
    for (const secret of [...stage.secrets, RPC_KEY, ...txs]) assert.ok(!stage.logged().includes(secret))
  })
})

suite('amounts on evm', () => {
  test('count the payouts of a transaction together, whatever the case of its hex digits', async () => {
    await using stage = await openStage('evm')
    const tx = stage.chain.txOf(1)
    const upper = `0x${tx.slice(2).toUpperCase()}`
    await stage.publish(payout('a', tx, '10'))
    stage.pay(tx, 10_000_000n)
    stage.advance(FINAL_MS)
    await stage.until('the first is published', () => stage.payouts().length === 1)
    await stage.publish(payout('b', upper, '10'))
    await stage.until('it is counted', async () => (await stage.metric(MORE)) === 1)
    await stage.asked()
    assert.equal(stage.payouts().length, 1)
  })

  test('are those of all held payouts of a transaction, whatever the case of its hex digits', async () => {
    await using stage = await openStage('evm')
    const tx = stage.chain.txOf(1)
    await stage.publish(payout('a', tx, '10'), payout('b', `0x${tx.slice(2).toUpperCase()}`, '10'))
    stage.pay(tx, 10_000_000n)
    stage.advance(FINAL_MS)
    await stage.until('both are counted', async () => (await stage.metric(MORE)) === 2)
    assert.equal(stage.payouts().length, 0)
  })
})
