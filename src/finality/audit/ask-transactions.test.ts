import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openRpcServer } from '../../../sim/chain/rpc-server.ts'
import { paidStageOf } from '../../../test/finality/audited-payments.ts'
import { openChain } from '../chain/open-chain.ts'
import { billionths } from '../../protocol/amount.ts'
import { seqOf } from '../../protocol/seq.ts'
import { type AskedTransaction, askTransactions } from './ask-transactions.ts'

const { chain, account, moving } = paidStageOf('evm')
/** More transactions than one question has, each of 5 tokens. */
const SENT: readonly string[] = Array.from({ length: 60 }, (_, index) => chain.txOf(200 + index))
for (const tx of SENT) chain.send(tx, moving(5))
const UNKNOWN = chain.txOf(300)
const PAID = billionths(5_000_000_000n)
const UNPAID = billionths(0n)

type Answers = Readonly<{
  asked: readonly AskedTransaction[]
  pausesMs: readonly number[]
  progress: readonly (readonly [done: number, total: number])[]
}>

/** Asks a server without faults about these transactions and the sums of their payouts. */
async function ask(named: readonly (readonly [tx: string, paid: typeof PAID])[]): Promise<Answers> {
  await using server = await openRpcServer({ chain })
  const { signal } = new AbortController()
  const settings = { chain: chain.kind, urls: [server.url], signal, timeoutMs: 2_000 }
  const client = openChain({ ...settings, now: () => performance.now() })
  await client.identify(null)
  const pausesMs: number[] = []
  const progress: (readonly [number, number])[] = []
  const pause = async (ms: number): Promise<void> => void pausesMs.push(ms)
  const onProgress = (done: number, total: number): void => void progress.push([done, total])
  const asked = await askTransactions(
    { client, account, pause, onProgress },
    named.map(([tx, paid], index) => ({ tx, seqs: [seqOf(index + 1)], paid, isRecent: false })),
  )
  return { asked, pausesMs, progress }
}

const [first = '', second = ''] = SENT

suite('the questions to a chain', () => {
  test('are about the amount of final transactions with payouts only', async () => {
    const { asked } = await ask([
      [first, PAID],
      [second, UNPAID],
      [UNKNOWN, PAID],
    ])
    assert.deepEqual(
      asked.map(({ verdict, moved }) => [verdict.is, moved]),
      [
        ['final', { units: 5_000_000n, decimals: 6 }],
        ['final', null],
        ['unknown', null],
      ],
    )
  })

  test('count each transaction once, and each amount once', async () => {
    const { progress } = await ask([
      [first, PAID],
      [second, UNPAID],
    ])
    assert.deepEqual(progress, [
      [2, 3],
      [3, 3],
    ])
  })

  for (const [count, batches] of [
    [1, [1]],
    [50, [50]],
    [51, [50, 51]],
  ] as const) {
    test(`are ${batches.length} for ${count} transactions`, async () => {
      const { progress } = await ask(SENT.slice(0, count).map((tx) => [tx, UNPAID]))
      assert.deepEqual(
        progress,
        batches.map((done) => [done, count]),
      )
    })
  }

  test('are repeated after a rest for an unknown transaction, three times in all, and not for a final one', async () => {
    assert.deepEqual((await ask([[first, UNPAID]])).pausesMs, [])
    const { pausesMs, progress } = await ask([
      [first, UNPAID],
      [UNKNOWN, UNPAID],
    ])
    assert.deepEqual(pausesMs, [2_000, 5_000])
    assert.equal(progress.length, 3)
  })
})
