import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { base58 } from '@scure/base'
import * as fc from 'fast-check'
import { type Chain, CHAINS, isChain, isTx, TX_PATTERN } from './tx.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const HASH = `0x${'0123456789abcdef'.repeat(4)}`

suite('a transaction identifier', () => {
  test('of solana is base58 of any 64 bytes', () => {
    fc.assert(fc.property(bytes(64), (signature) => isTx('solana', base58.encode(signature))))
    assert.ok(isTx('solana', '1'.repeat(64)), '64 zero bytes')
    assert.ok(isTx('solana', base58.encode(new Uint8Array(64).fill(255))), 'the longest')
  })

  test('of solana has no other length, such as the 32 bytes of a wallet address', () => {
    const lengths = fc.integer({ min: 0, max: 130 }).filter((length) => length !== 64)
    fc.assert(
      fc.property(lengths.chain(bytes), (other) => !isTx('solana', base58.encode(other))),
      { numRuns: 500 },
    )
  })

  const table: readonly (readonly [Chain, string, boolean])[] = [
    ['solana', '', false],
    ['solana', HASH, false],
    ['solana', `0${'1'.repeat(63)}`, false],
    ['solana', ` ${'1'.repeat(64)}`, false],
    ['evm', HASH, true],
    ['evm', HASH.toUpperCase().replace('0X', '0x'), true],
    ['evm', HASH.replace('0x', '0X'), false],
    ['evm', HASH.slice(2), false],
    ['evm', HASH.slice(0, -1), false],
    ['evm', `${HASH}0`, false],
    ['evm', `${HASH}\n`, false],
    ['opaque', 'batch-0001', true],
    ['opaque', 'a:b_c-d9', true],
    ['opaque', 'a'.repeat(128), true],
    ['opaque', HASH, true],
    ['opaque', '1234567', false],
    ['opaque', 'a'.repeat(129), false],
    ['opaque', 'with space', false],
    ['opaque', 'point.ed.', false],
  ]
  for (const [chain, text, expected] of table) {
    test(`of ${chain} ${expected ? 'may be' : 'is never'} ${JSON.stringify(text.slice(0, 30))} (${text.length})`, () =>
      assert.equal(isTx(chain, text), expected))
  }

  test('matches the pattern in schemas', () => {
    fc.assert(
      fc.property(bytes(64), (signature) => new RegExp(TX_PATTERN.solana).test(base58.encode(signature))),
    )
  })

  test('belongs to one of three chains', () => {
    assert.deepEqual(CHAINS.filter(isChain), CHAINS)
    assert.equal(isChain('toString'), false)
  })
})
