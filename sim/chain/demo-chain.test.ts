import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { failingTxOf, txOf } from '../import-draft.ts'
import { randomOf } from '../random.ts'
import { openDemoChain } from './demo-chain.ts'

const START = Date.UTC(2026, 10, 22)
const STEP_MS = 100

suite('the chain of the demonstration', () => {
  test('settles what is sent after 4 to 13 seconds, at different times', () => {
    let now = START
    const { chain, send } = openDemoChain('daybook', () => now)
    const random = randomOf('demo')
    const txs = Array.from({ length: 200 }, () => txOf(random))
    txs.forEach(send)
    const settledMs: number[] = []
    for (let waited = 0; waited < 20_000; waited += STEP_MS) {
      now = START + waited
      for (const tx of txs) {
        const index = txs.indexOf(tx)
        if (settledMs[index] === undefined && chain.truth(tx).is === 'final') settledMs[index] = waited
      }
    }
    assert.equal(settledMs.filter((ms) => ms >= 4_000 && ms <= 13_000).length, txs.length)
    assert.ok(Math.max(...settledMs) - Math.min(...settledMs) > 5_000)
  })

  test('knows at once what it never saw, such as a transaction from before a restart, and settles it soon', () => {
    let now = START
    const { chain } = openDemoChain('daybook', () => now)
    const tx = txOf(randomOf('by hand'))
    assert.equal(chain.truth(tx).is, 'waiting')
    now += 5_000
    assert.equal(chain.truth(tx).is, 'final')
  })

  test('knows the transaction of a published event as final, and that it moved what its payouts add up to', () => {
    const tx = txOf(randomOf('published'))
    const { chain, payer, token } = openDemoChain('daybook', () => START, {
      names: (asked) => asked === tx,
      paidIn: (asked) => (asked === tx ? 5n : 0n),
    })
    assert.equal(chain.truth(tx).is, 'final')
    assert.equal(chain.truth(txOf(randomOf('another'))).is, 'waiting')
    const moved = chain
      .at(START)
      .find(tx)
      ?.transfers.map((transfer) => ({ ...transfer, payee: '' }))
    assert.deepEqual(moved, [{ token, payer, payee: '', units: 5n }])
  })

  test('fails the transactions that the simulator marks', () => {
    let now = START
    const { chain, send } = openDemoChain('daybook', () => now)
    const tx = failingTxOf(randomOf('failing'))
    send(tx)
    now += 13_000
    assert.equal(chain.truth(tx).is, 'failed')
  })

  test('is the same chain after a restart', () => {
    const [one, other] = [0, 86_400_000].map((later) => openDemoChain('daybook', () => START + later).chain)
    assert.equal(one?.genesis, other?.genesis)
    assert.equal(one?.at(START).hashOf(7), other?.at(START).hashOf(7))
  })
})
