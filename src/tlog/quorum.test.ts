import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { keyOfSeed, LOG_SEED, mlDsaKeyOfSeed, sha256, verifyEd25519 } from '../../test/tlog/example.ts'
import { verifyRawMlDsa44 } from '../log/tree/signer.ts'
import { formatCheckpoint } from './checkpoint.ts'
import { cosignedMessage, cosignText, formatCosignature, parseCosignature } from './cosignature.ts'
import { type NoteSignature, signText, type VerifierKey, verifierKey } from './note.ts'
import { areWitnesses, majorityOf, openVouching, quorumTime, type WitnessVerification } from './quorum.ts'

const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const log = keyOfSeed('log.example/a', 'ed25519', LOG_SEED)
const classic = keyOfSeed('witness.example/one', 'ed25519-cosignature', seed(3))
const quantum = mlDsaKeyOfSeed('witness.example/two', seed(4))
const ROOT = sha256(Buffer.from('some root'))
const TEXT = formatCheckpoint({ origin: 'log.example/a', size: 1_234_567, root: ROOT, extensions: [] })
const TIME = 1_760_000_000
const byLog = signText(log.key, log.sign, TEXT)
const byClassic = cosignText(classic.key, classic.sign, TIME, TEXT)
const byQuantum = cosignText(quantum.key, quantum.sign, TIME + 5, TEXT)
const NODE: WitnessVerification = { verifyEd25519, verifyMlDsa44: verifyRawMlDsa44 }

async function vouching(
  signatures: readonly NoteSignature[],
  keys: readonly VerifierKey[],
  { text, verification }: Readonly<{ text?: string; verification?: WitnessVerification }> = {},
): Promise<string> {
  const opened = await openVouching({ text: text ?? TEXT, signatures }, keys, verification ?? NODE)
  if (!opened.ok) return opened.doubt
  const { vouchers, unverified } = opened.value
  return [...vouchers.map(({ name, timeSeconds }) => `${name} ${timeSeconds - TIME}`), ...unverified].join(
    ', ',
  )
}

suite('a cosignature', () => {
  test('is parsed to the formatted value', () => {
    const types = fc.constantFrom(
      ['ed25519-cosignature', 64] as const,
      ['ml-dsa-44-cosignature', 2_420] as const,
    )
    fc.assert(
      fc.property(
        types,
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        fc.nat(255),
        ([type, length], timeSeconds, byte) => {
          const cosignature = { timeSeconds, signature: new Uint8Array(length).fill(byte) }
          assert.deepEqual(parseCosignature(type, formatCosignature(cosignature)), cosignature)
        },
      ),
    )
  })

  test('may have the time 1, the earliest', () => {
    const cosignature = { timeSeconds: 1, signature: new Uint8Array(64) }
    assert.deepEqual(parseCosignature('ed25519-cosignature', formatCosignature(cosignature)), cosignature)
  })

  test('is refused with the time 0, a time beyond 2^53−1 or another length', () => {
    const signature = new Uint8Array(64)
    assert.equal(
      parseCosignature('ed25519-cosignature', formatCosignature({ timeSeconds: 0, signature })),
      undefined,
    )
    assert.equal(parseCosignature('ed25519-cosignature', new Uint8Array(72).fill(255)), undefined)
    for (const bytes of [71, 73]) {
      assert.equal(parseCosignature('ed25519-cosignature', new Uint8Array(bytes).fill(1)), undefined)
    }
    assert.equal(parseCosignature('ml-dsa-44-cosignature', new Uint8Array(72).fill(1)), undefined)
  })

  test('of ML-DSA-44 signs label, names, time, range and root, each of its fixed form', () => {
    const message = Buffer.from(cosignedMessage(quantum.key, TIME, TEXT) ?? assert.fail())
    const expected = Buffer.concat([
      Buffer.from('737562747265652f76310a00', 'hex'),
      Buffer.from([19]),
      Buffer.from('witness.example/two'),
      Buffer.from('0000000068e77800', 'hex'),
      Buffer.from([13]),
      Buffer.from('log.example/a'),
      Buffer.from('0000000000000000', 'hex'),
      Buffer.from('000000000012d687', 'hex'),
      ROOT,
    ])
    assert.equal(message.toString('hex'), expected.toString('hex'))
  })

  test('is not made of a text that is no checkpoint, of a longer name than fits, or with the key of a log', () => {
    const long = mlDsaKeyOfSeed('w'.repeat(256), seed(5))
    assert.throws(() => cosignText(long.key, long.sign, TIME, TEXT), RangeError)
    assert.throws(() => cosignText(quantum.key, quantum.sign, TIME, 'no checkpoint\n'), RangeError)
    assert.throws(() => cosignText(log.key, log.sign, TIME, TEXT), RangeError)
  })
})

suite('the witnesses on a note', () => {
  test('vouch with valid cosignatures of both types; others are ignored', async () => {
    const all = [byLog, byClassic, byQuantum]
    assert.equal(
      await vouching(all, [classic.key, quantum.key]),
      'witness.example/one 0, witness.example/two 5',
    )
    assert.equal(await vouching(all, [quantum.key]), 'witness.example/two 5')
    assert.equal(await vouching(all, []), '')
  })

  test('are refused when a signature by a known key is of another text, time, name or length', async () => {
    for (const [line, key] of [
      [byClassic, classic.key],
      [byQuantum, quantum.key],
    ] as const) {
      const later = Uint8Array.from(line.signature)
      later[7] = (later[7] ?? 0) ^ 1
      const others = [later, line.signature.subarray(1), Uint8Array.from([...line.signature, 0])]
      for (const signature of others)
        assert.equal(await vouching([{ ...line, signature }], [key]), 'bad-signature')
      const text = TEXT.replace('1234567', '1234568')
      assert.equal(await vouching([line], [key], { text }), 'bad-signature')
      assert.equal(await vouching([line], [key], { text: 'no checkpoint\n' }), 'bad-signature')
    }
    // The message for ML-DSA-44 has the name of the witness.
    const other = verifierKey(sha256, 'witness.example/three', 'ml-dsa-44-cosignature', quantum.key.publicKey)
    const renamed = { ...byQuantum, name: other.name, keyId: other.keyId }
    assert.equal(await vouching([renamed], [other]), 'bad-signature')
  })

  test('count once with several keys of one name, at the newest time', async () => {
    const twin = mlDsaKeyOfSeed(classic.key.name, seed(6))
    const lines = [byClassic, cosignText(twin.key, twin.sign, TIME + 9, TEXT), byClassic]
    assert.equal(await vouching(lines, [classic.key, twin.key]), 'witness.example/one 9')
  })

  test('are named apart where the runtime has no ML-DSA-44', async () => {
    const verification = { verifyEd25519, verifyMlDsa44: null }
    const known = [classic.key, quantum.key]
    assert.equal(
      await vouching([byClassic, byQuantum], known, { verification }),
      'witness.example/one 0, witness.example/two',
    )
  })

  test('are a quorum as of the newest time that so many of them reach', () => {
    const vouchers = [30, 10, 20].map((timeSeconds) => ({ name: String(timeSeconds), timeSeconds }))
    assert.deepEqual(
      [1, 2, 3, 4].map((quorum) => quorumTime(vouchers, quorum)),
      [30, 20, 10, undefined],
    )
  })

  test('have a majority of their names as quorum by default', () => {
    const keys = Array.from({ length: 5 }, (_, n) => keyOfSeed(`w/${n}`, 'ed25519-cosignature', seed(n)).key)
    assert.deepEqual(
      [1, 2, 3, 4, 5].map((count) => majorityOf(keys.slice(0, count))),
      [1, 2, 2, 3, 3],
    )
    const twin = keyOfSeed('w/0', 'ed25519-cosignature', seed(9)).key
    assert.equal(majorityOf([...keys.slice(0, 3), twin]), 2)
  })

  test('are no list with the key of a log, or with one public key under two names', () => {
    const twin = keyOfSeed('witness.example/twin', 'ed25519-cosignature', seed(3)).key
    assert.ok(areWitnesses([classic.key, quantum.key]))
    assert.ok(!areWitnesses([classic.key, log.key]))
    assert.ok(!areWitnesses([classic.key, twin]))
  })
})
