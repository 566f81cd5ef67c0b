import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ChainKind, ChainSettings, Fate } from './chain-settings.ts'
import { openPretendChain, SOLANA_FAILURE } from './pretend-chain.ts'

const START = Date.UTC(2026, 0, 1)

function stepped(kind: ChainKind, more: Partial<ChainSettings> = {}) {
  let moment = START
  const chain = openPretendChain({ kind, seed: 'test', now: () => moment, ...more })
  return { chain, step: (ms: number) => void (moment += ms) }
}

suite('the pretend chain', () => {
  const courses: readonly (readonly [ChainKind, Fate, readonly string[]])[] = [
    ['solana', {}, ['unknown', 'waiting', 'final']],
    ['solana', { error: SOLANA_FAILURE }, ['unknown', 'waiting', 'failed']],
    ['solana', { landsAfterMs: null }, ['unknown']],
    ['solana', { reorg: { afterMs: 2_000, againAfterMs: null } }, ['unknown', 'waiting', 'unknown']],
    [
      'solana',
      { reorg: { afterMs: 2_000, againAfterMs: 900 } },
      ['unknown', 'waiting', 'unknown', 'waiting', 'final'],
    ],
    ['evm', {}, ['unknown', 'waiting', 'final']],
    ['evm', { error: true }, ['unknown', 'waiting', 'failed']],
    [
      'evm',
      { reorg: { afterMs: 30_000, againAfterMs: 0 } },
      ['unknown', 'waiting', 'unknown', 'waiting', 'final'],
    ],
  ]
  for (const [kind, fate, expected] of courses) {
    test(`takes a transaction of ${kind} with ${JSON.stringify(fate)} through ${expected.join(', ')}`, () => {
      const { chain, step } = stepped(kind)
      const tx = chain.txOf(1)
      chain.send(tx, fate)
      const seen: string[] = []
      for (let at = 0; at < 40 * 60_000; at += 100) {
        const { is } = chain.truth(tx)
        if (seen.at(-1) !== is) seen.push(is)
        step(100)
      }
      assert.deepEqual(seen, expected)
    })
  }

  test('tells the moment at which a transaction is final', () => {
    const { chain, step } = stepped('solana')
    chain.send(chain.txOf(1))
    const finalAt = chain.finalAt(chain.txOf(1))
    assert.ok(finalAt !== null)
    step(finalAt - START - 1)
    assert.equal(chain.truth(chain.txOf(1)).is, 'waiting')
    step(1)
    assert.equal(chain.truth(chain.txOf(1)).is, 'final')
    chain.send(chain.txOf(2), { landsAfterMs: null })
    assert.equal(chain.finalAt(chain.txOf(2)), null)
  })

  test('changes the hashes of the blocks that a reorganisation replaces, and no other', () => {
    const { chain, step } = stepped('evm')
    chain.send(chain.txOf(1), { reorg: { afterMs: 30_000, againAfterMs: 0 } })
    step(24_000)
    const before = chain.at(chain.now())
    const found = before.find(chain.txOf(1))
    assert.ok(found !== null)
    const hashes = [before.hashOf(found.block - 1), before.hashOf(found.block)]
    step(60_000)
    const after = chain.at(chain.now())
    assert.equal(after.hashOf(found.block - 1), hashes[0])
    assert.notEqual(after.hashOf(found.block), hashes[1])
  })

  test('never takes a final block back', () => {
    const { chain } = stepped('solana')
    assert.throws(
      () => chain.send(chain.txOf(1), { reorg: { afterMs: 60_000, againAfterMs: null } }),
      RangeError,
    )
  })

  test('counts an adopted transaction as sent when it is first asked for', () => {
    const { chain, step } = stepped('solana', { adopt: () => ({ landsAfterMs: 1_000 }) })
    step(60_000)
    assert.equal(chain.truth(chain.txOf(9)).is, 'unknown')
    step(2_000)
    assert.equal(chain.truth(chain.txOf(9)).is, 'waiting')
    step(20_000)
    assert.equal(chain.truth(chain.txOf(9)).is, 'final')
  })

  test('is the same for the same seed', () => {
    const [one, other] = [stepped('solana').chain, stepped('solana').chain]
    assert.equal(one.genesis, other.genesis)
    assert.equal(one.txOf(7), other.txOf(7))
    assert.equal(one.at(START).hashOf(5), other.at(START).hashOf(5))
    assert.notEqual(one.txOf(7), one.txOf(8))
  })
})
