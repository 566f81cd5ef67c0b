import assert from 'node:assert/strict'
import { createHash, sign } from 'node:crypto'
import { suite, test } from 'node:test'
import { Point } from '@noble/ed25519'
import * as fc from 'fast-check'
import { verifyEd25519 } from './browser-primitives.ts'
import { verifyEd25519 as verifyByRuntime } from '../../../test/tlog/example.ts'
import { OTHER_KEY, TEST_KEY } from '../../../test/story/signing.ts'

const { p, n } = Point.CURVE()
/** Sign bit of x in a point's last byte. */
const SIGN = 1n << 255n

const bytesOf = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 255n))
const numberOf = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n)
const concat = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts)

/** A point of order eight. Added to another point, it gives one with nearly the same signatures. */
const TORSION = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a')
/** Secrets of a key and of a signature. */
const [SECRET, NONCE] = [12_345_678_901_234_567_890n, 98_765_432_109_876_543_210n]
const [KEY, R] = [Point.BASE.multiply(SECRET), Point.BASE.multiply(NONCE)]

type Claim = Readonly<{ key: Uint8Array; message: Uint8Array; signature: Uint8Array }>

/** Signs with the secret and with chosen bytes of the key and of R; k is the hash of all. */
function signed(
  key: Uint8Array,
  r: Uint8Array,
  text: string,
  s: (k: bigint) => bigint,
): Claim & Readonly<{ k: bigint }> {
  const message = Buffer.from(text)
  const k =
    numberOf(
      createHash('sha512')
        .update(concat(r, key, message))
        .digest(),
    ) % n
  return { key, message, signature: concat(r, bytesOf(s(k))), k }
}

const byTheRules = (k: bigint): bigint => (NONCE + k * SECRET) % n
const good = signed(KEY.toBytes(), R.toBytes(), 'good', byTheRules)

/** The first claim whose k is, or is not, a multiple of eight. */
function first(isMultiple: boolean, claim: (text: string) => Claim & Readonly<{ k: bigint }>): Claim {
  for (let count = 0; ; count += 1) {
    const found = claim(`claim ${count}`)
    if ((found.k % 8n === 0n) === isMultiple) return found
  }
}

/** A number without its last byte, which is zero. */
function short(): Claim {
  for (let count = 0; ; count += 1) {
    const { signature, ...claim } = signed(KEY.toBytes(), R.toBytes(), `short ${count}`, byTheRules)
    if (signature.at(-1) === 0) return { ...claim, signature: signature.subarray(0, -1) }
  }
}

const mixed = (isMultiple: boolean): Claim =>
  first(isMultiple, (text) => signed(KEY.add(TORSION).toBytes(), R.toBytes(), text, byTheRules))

const CLAIMS: readonly (readonly [what: string, claim: Claim, holds: boolean])[] = [
  ['a signature', good, true],
  ['one of another message', { ...good, message: Buffer.from('other') }, false],
  ['one by another key', { ...good, key: R.toBytes() }, false],
  [
    'one whose S is the same scalar in another form',
    signed(KEY.toBytes(), R.toBytes(), 'good', (k) => byTheRules(k) + n),
    false,
  ],
  ['nothing but zeros', { ...good, signature: new Uint8Array(64) }, false],
  ['one with a byte too many', { ...good, signature: concat(good.signature, new Uint8Array(1)) }, false],
  ['one that lacks the last byte, which says nothing', short(), false],
  ['nothing at all', { ...good, signature: new Uint8Array() }, false],
  ['a key that is no point', { ...good, key: bytesOf(2n) }, false],
  ['a key beyond the field', { ...good, key: bytesOf(p + 3n) }, false],
  ['an R that is no point', { ...good, signature: concat(bytesOf(2n), good.signature.subarray(32)) }, false],
  ['an equation that holds by the cofactor alone, over the key', mixed(false), false],
  ['an equation that holds though the key has a part of small order', mixed(true), true],
  [
    'an equation that holds by the cofactor alone, over R',
    signed(KEY.toBytes(), R.add(TORSION).toBytes(), 'good', byTheRules),
    false,
  ],
  ...[bytesOf(1n), bytesOf(p + 1n), bytesOf(1n + SIGN), bytesOf(p + 1n + SIGN)].flatMap(
    (identity, form) =>
      [
        [
          `an R that is the identity, form ${form}`,
          signed(KEY.toBytes(), identity, 'good', (k) => (k * SECRET) % n),
          false,
        ],
        [
          `a key that is the identity, form ${form}`,
          signed(identity, R.toBytes(), 'good', () => NONCE),
          false,
        ],
      ] as const,
  ),
  ...[1n, 2n, 3n, 4n, 5n, 6n, 7n].map(
    (times) =>
      [
        `a key of small order, ${times}`,
        first(true, (text) =>
          signed(TORSION.multiplyUnsafe(times).toBytes(), R.toBytes(), text, () => NONCE),
        ),
        false,
      ] as const,
  ),
]

suite('the Ed25519 that a page brings', () => {
  for (const [what, { key, message, signature }, holds] of CLAIMS) {
    test(`${holds ? 'takes' : 'refuses'}, as the runtime does, ${what}`, async () => {
      assert.equal(await verifyEd25519(key, message, signature), holds)
      assert.equal(await verifyByRuntime(key, message, signature), holds)
    })
  }

  test('takes signatures of the runtime, and refuses them with one bit changed', async () => {
    const { privateKey, publicKey } = TEST_KEY
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), async (message, bit) => {
        const signature = sign(null, message, privateKey)
        assert.ok(await verifyEd25519(publicKey, message, signature))
        assert.ok(!(await verifyEd25519(OTHER_KEY.publicKey, message, signature)))
        for (const verify of [verifyEd25519, verifyByRuntime]) {
          assert.equal(await verify(flipped(publicKey, bit), message, signature), false)
          assert.equal(await verify(publicKey, flipped(message, bit), signature), false)
          assert.equal(await verify(publicKey, message, flipped(signature, bit)), false)
        }
      }),
      { numRuns: 30 },
    )
  })
})

function flipped(bytes: Uint8Array, chosen: number): Uint8Array {
  const bit = chosen % (8 * bytes.length)
  return bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
}
