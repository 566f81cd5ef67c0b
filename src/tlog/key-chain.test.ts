import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { keyOfSeed, verifyEd25519 } from '../../test/tlog/example.ts'
import { type ChainKey, rotationText, verifyKeyChain } from './key-chain.ts'
import { formatNote, signText } from './note.ts'

type SeededKey = ReturnType<typeof keyOfSeed>

const ORIGIN = 'log.example/a'
const keyOf = (byte: number, name = ORIGIN): SeededKey =>
  keyOfSeed(name, 'ed25519', new Uint8Array(32).fill(byte))
const [first, second, third] = [keyOf(1), keyOf(2), keyOf(3)]

function listedKey({ key }: SeededKey, fromSize: number, voucher?: SeededKey): ChainKey {
  if (voucher === undefined) return { key, fromSize, statement: null }
  const text = rotationText(key, fromSize)
  const signatures = [signText(voucher.key, voucher.sign, text)]
  return { key, fromSize, statement: formatNote({ text, signatures }) }
}

async function foundFrom(trusted: SeededKey, listed: readonly ChainKey[]): Promise<readonly string[]> {
  const found = await verifyKeyChain([trusted.key], listed, verifyEd25519)
  return found.map(({ key }) => key.keyId)
}

const idsOf = (...keys: readonly SeededKey[]): readonly string[] => keys.map(({ key }) => key.keyId)

suite('a chain of keys', () => {
  const chain = [listedKey(first, 0), listedKey(second, 5, first), listedKey(third, 9, second)]

  test('has a statement of origin, size and vkey, a line each', () => {
    assert.match(
      rotationText(second.key, 5),
      /^daybook key rotation v1\nlog\.example\/a\n5\nlog\.example\/a\+.*\n$/,
    )
  })

  test('leads from a trusted key to every newer one, for any order of the list', async () => {
    assert.deepEqual(await foundFrom(first, chain), idsOf(second, third))
    assert.deepEqual(await foundFrom(first, chain.toReversed()), idsOf(second, third))
  })

  test('leads to no older key', async () => {
    assert.deepEqual(await foundFrom(second, chain), idsOf(third))
    assert.deepEqual(await foundFrom(third, chain), [])
  })

  test('breaks at a statement about another size or another key, and at text that is no note', async () => {
    const [, good] = chain
    assert.ok(good !== undefined)
    for (const broken of [
      { ...good, fromSize: 6 },
      { ...good, key: third.key },
      { ...good, statement: 'no note' },
      { ...good, statement: null },
    ]) {
      assert.deepEqual(await foundFrom(first, [broken, listedKey(third, 9, second)]), [])
    }
  })

  test('has no key that vouches for itself, and no circle of keys that vouch for each other', async () => {
    assert.deepEqual(await foundFrom(first, [listedKey(second, 5, second)]), [])
    assert.deepEqual(await foundFrom(second, [listedKey(second, 5, second)]), [])
    assert.deepEqual(await foundFrom(first, [listedKey(second, 5, third), listedKey(third, 9, second)]), [])
  })

  test('stays within one origin and needs a key of the log, not of a witness', async () => {
    const elsewhere = keyOf(2, 'log.example/b')
    assert.deepEqual(await foundFrom(first, [listedKey(elsewhere, 5, first)]), [])
    const witness = keyOfSeed(ORIGIN, 'ed25519-cosignature', new Uint8Array(32).fill(1))
    assert.deepEqual(await foundFrom(witness, chain), [])
  })
})
