import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InvalidArgumentError } from 'commander'
import { keyOfSeed, mlDsaKeyOfSeed } from '../../../test/tlog/example.ts'
import { WITNESSES_MAX } from '../../tlog/quorum.ts'
import { formatVkey, type VerifierKey } from '../../tlog/note.ts'
import { CommandError } from './command-error.ts'
import { collectWitnesses, readWitnesses, type WitnessChoice } from './witness-option.ts'

const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const witness = (n: number): VerifierKey =>
  keyOfSeed(`witness.example/w${n}`, 'ed25519-cosignature', seed(n + 1)).key
const vkeys = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => formatVkey(witness(n)))
const URL_OF = 'https://witness.example/w0'

function read(texts: readonly string[], quorum?: number, needsUrl = false): WitnessChoice | null {
  return readWitnesses(texts, quorum, { quorum: '--quorum', needsUrl })
}

/** Keys and addresses of a choice, as text. */
function told(texts: readonly string[], needsUrl = false): readonly (readonly (string | null)[])[] {
  return read(texts, undefined, needsUrl)?.witnesses.map(({ key, url }) => [formatVkey(key), url]) ?? []
}

/** Message of the refusal, which must not repeat any of the values. */
function refusal(texts: readonly string[], quorum?: number, needsUrl = false): string {
  try {
    read(texts, quorum, needsUrl)
  } catch (error) {
    assert.ok(error instanceof CommandError)
    assert.equal(error.exitCode, 2)
    for (const text of texts) assert.ok(text === '' || !error.message.includes(text), error.message)
    assert.doesNotMatch(error.message, /secret/)
    return error.message
  }
  return 'accepted'
}

suite('the option --witness', () => {
  test('is a key, or a key with an address, also when the base64 of the key ends with =', () => {
    const quantum = mlDsaKeyOfSeed('witness.example/q', seed(9)).key
    const padded = formatVkey(quantum)
    assert.match(padded, /=$/)
    assert.deepEqual(told([padded]), [[padded, null]])
    assert.deepEqual(told([`${padded}=${URL_OF}`]), [[padded, URL_OF]])
    const [plain = ''] = vkeys(1)
    for (const slashes of ['', '/', '//']) {
      assert.deepEqual(told([`${plain}=${URL_OF}${slashes}`], true), [[plain, URL_OF]])
    }
    assert.equal(read([`${plain}=http://127.0.0.1:8000`])?.witnesses[0]?.url, 'http://127.0.0.1:8000')
  })

  test('may be repeated, and its variable holds several with spaces between them', () => {
    assert.deepEqual(collectWitnesses('a=b  c ', ['z']), ['z', 'a=b', 'c'])
    for (const text of ['', ' ']) assert.throws(() => collectWitnesses(text, []), InvalidArgumentError)
  })

  test('has a majority of the names as quorum by default, and every number up to theirs', () => {
    assert.equal(read([]), null)
    assert.deepEqual(
      [1, 2, 3, 4].map((count) => read(vkeys(count))?.quorum),
      [1, 2, 2, 3],
    )
    const twin = formatVkey(mlDsaKeyOfSeed(witness(0).name, seed(9)).key)
    assert.equal(read([...vkeys(2), twin], 2)?.quorum, 2)
    assert.match(refusal([...vkeys(2), twin], 3), /^--quorum: give a whole number from 1 to 2,/)
    for (const quorum of [0, 4, 1.5, Number.NaN]) assert.match(refusal(vkeys(3), quorum), /from 1 to 3/)
    assert.equal(refusal([], 1), '--quorum needs --witness')
  })

  test('is refused without repeating it when it is no key of a witness', () => {
    const log = formatVkey(keyOfSeed('log.example/a', 'ed25519', seed(9)).key)
    assert.match(refusal([log]), /^--witness: the key is that of a log/)
    const [plain = '', second = ''] = vkeys(2)
    for (const text of ['secret', `${plain}x`, `=${URL_OF}`, `${plain}=secret`, `${plain}=ftp://secret`])
      assert.match(refusal([second, text]), /^--witness, number 2: give VKEY or VKEY=URL/, text)
    assert.match(refusal([plain], undefined, true), /give the address too/)
  })

  test('is refused with an address that has a password, a query or a fragment, or is malformed', () => {
    const [plain = ''] = vkeys(1)
    assert.match(refusal([`${plain}=https://name:secret@w.example`]), /without a name or password/)
    assert.match(refusal([`${plain}=https://w.example?secret`]), /without a query/)
    assert.match(refusal([`${plain}=https://w.example#`]), /without a query/)
    assert.match(refusal([`${plain}=https://secret:99999`]), /malformed/)
  })

  test('is refused with one public key twice, and with more than 16 values', () => {
    const [plain = ''] = vkeys(1)
    const twin = formatVkey(keyOfSeed('witness.example/other', 'ed25519-cosignature', seed(1)).key)
    assert.match(refusal([plain, plain]), /same public key/)
    assert.match(refusal([plain, twin]), /same public key/)
    assert.equal(read(vkeys(WITNESSES_MAX))?.witnesses.length, WITNESSES_MAX)
    assert.equal(refusal(vkeys(WITNESSES_MAX + 1)), '--witness: give at most 16')
  })
})
