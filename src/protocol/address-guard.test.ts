import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { base32nopad, base58, base64url } from '@scure/base'
import * as fc from 'fast-check'
import { codePoints } from '../../test/story/code-points.ts'
import { DISGUISES, provenAddresses, PUBLISHED, segwitAddresses } from '../../test/story/addresses.ts'
import { findsAddress } from './address-guard.ts'

/** Samples are so many times as large in a campaign. */
const SCALE = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 1)

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const hex = (length: number) => bytes(length).map((each) => Buffer.from(each).toString('hex'))
const keys = bytes(32).map((key) => base58.encode(key))
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

suite('the address guard', () => {
  test('detects every published address under every disguise, in titles and URLs', () => {
    const missed = PUBLISHED.flatMap(({ address }) =>
      DISGUISES.flatMap(([name, dress]) =>
        findsAddress(dress(address), 'prose') && findsAddress(dress(address), 'url')
          ? []
          : [`${address} ${name}`],
      ),
    )
    assert.deepEqual(missed, [])
  })

  test('detects every address under any disguise', () => {
    fc.assert(
      fc.property(fc.oneof(provenAddresses, keys), fc.constantFrom(...DISGUISES), (address, [, dress]) =>
        findsAddress(dress(address), 'prose'),
      ),
      { numRuns: 2_000 * SCALE },
    )
  })

  test('finds the shortest address in use, of 14 characters, where it is the whole text', () => {
    // Pay-to-anchor of Bitcoin (BIP 433).
    for (const place of ['prose', 'url', 'tx'] as const) assert.ok(findsAddress('bc1pfeessrawgf', place))
    assert.ok(!findsAddress('bc1pfeessrawg', 'prose'))
  })

  test('finds bech32 between other letters, and in mixed case as a whole word', () => {
    const letters = fc.constantFrom('', 'to', 'WALLET', 'wallet', 'x9')
    fc.assert(
      fc.property(segwitAddresses, letters, letters, (address, before, after) =>
        findsAddress(before + address + after, 'prose'),
      ),
      { numRuns: 300 * SCALE },
    )
    const mix = (text: string) =>
      text.replaceAll(/.{2}/g, (pair) => pair.slice(0, 1).toUpperCase() + pair.slice(1))
    fc.assert(fc.property(segwitAddresses, (address) => findsAddress(`to ${mix(address)}.`, 'prose')))
  })

  test('refuses a text that hides its letters under more than six layers of encoding', () => {
    const layers = (count: number) => `round %${'25'.repeat(count - 1)}34`
    for (const count of [1, 2, 5, 6]) assert.ok(!findsAddress(layers(count), 'prose'), `${count}`)
    for (const count of [7, 8, 50]) assert.ok(findsAddress(layers(count), 'prose'), `${count}`)
  })

  test('refuses in a free transaction what `0x` or a checksum proves, and not base58 of 32 bytes', () => {
    for (const { address, proof } of PUBLISHED.filter((each) => !each.address.includes(':'))) {
      assert.equal(findsAddress(address, 'tx'), proof !== 'length', address)
      assert.equal(findsAddress(`from:${address}`, 'tx'), proof !== 'length', address)
    }
    fc.assert(
      fc.property(keys, (key) => findsAddress(key, 'prose') && !findsAddress(key, 'tx')),
      { seed: 6 },
    )
  })

  test('accepts every digest of 64 hex digits, with or without 0x, even with a base58 run of 32 bytes', () => {
    const digests = 10_000 * SCALE
    let hidden = 0
    fc.assert(
      fc.property(
        hex(32),
        fc.constantFrom('', '0x', '0X', 'sha256:', 'batch '),
        fc.boolean(),
        (digits, before, upper) => {
          const digest = upper ? digits.toUpperCase() : digits
          const runs = digest.match(/[1-9A-Fa-f]{32,44}/g) ?? []
          if (runs.some((run) => base58.decode(run).length === 32)) hidden++
          return (['prose', 'url', 'tx'] as const).every((place) => !findsAddress(before + digest, place))
        },
      ),
      { numRuns: digests, seed: 4 },
    )
    // Without the rule for digests, this many would be refused.
    assert.ok(hidden > digests / 200, `${hidden} of ${digests} digests hold a run that decodes to 32 bytes`)
  })

  test('accepts every digest before a word that begins with x', () => {
    fc.assert(
      fc.property(hex(32), fc.constantFrom('x2', 'x2.png', 'x 3', 'x-2026', 'xl'), (digits, after) => {
        const digest = `${digits.slice(0, -1)}0${after}`
        return (['prose', 'url', 'tx'] as const).every((place) => !findsAddress(digest, place))
      }),
      { numRuns: 500 * SCALE, seed: 8 },
    )
  })

  test('accepts longer digests, and digests in groups', () => {
    fc.assert(
      fc.property(fc.constantFrom(32, 48, 64).chain(hex), fc.constantFrom(4, 8, 16), (digits, size) => {
        const parts = (digits.match(new RegExp(`.{${size}}`, 'g')) ?? []).join(' ')
        return (
          !findsAddress(digits, 'prose') &&
          !findsAddress(parts, 'prose') &&
          !findsAddress(`0x ${parts}`, 'prose')
        )
      }),
      { numRuns: 300 * SCALE, seed: 9 },
    )
  })

  test('accepts every Solana transaction, in a URL too', () => {
    const signatures = bytes(64).map((each) => base58.encode(each))
    fc.assert(
      fc.property(
        signatures,
        (tx) => !findsAddress(tx, 'tx') && !findsAddress(`https://x.example/${tx}`, 'url'),
      ),
      { numRuns: 300 * SCALE, seed: 5 },
    )
  })

  test('accepts content identifiers, digests, commits and keys in base32, base36 and hex in a URL', () => {
    const base32 = (each: Uint8Array) => base32nopad.encode(each).toLowerCase()
    const cid = (codec: number) =>
      bytes(32).map((digest) => `b${base32(Uint8Array.from([1, codec, 0x12, 0x20, ...digest]))}`)
    const ids = fc.oneof(
      cid(0x70),
      cid(0x55),
      cid(0x70).map((id) => id.toUpperCase()),
      bytes(36).map((key) => `k51${BigInt(`0x${key.toHex()}`).toString(36)}`),
      fc.constantFrom(20, 24, 28).chain(hex),
      hex(28).map((digits) => digits.toUpperCase()),
      hex(20).map((digits) => `commit/${digits}`),
    )
    const places: readonly ((id: string) => string)[] = [
      (id) => `https://ipfs.io/ipfs/${id}`,
      (id) => `https://${id}.ipfs.dweb.link/a.json`,
      (id) => `https://x.example/?id=${id}&download=1`,
    ]
    fc.assert(
      fc.property(ids, fc.constantFrom(...places), (id, place) => !findsAddress(place(id), 'url')),
      { numRuns: 1_000 * SCALE, seed: 3 },
    )
  })

  test('detects a key of ones and letters of one case', () => {
    for (const key of ['1'.repeat(32), '1nc1nerator11111111111111111111111111111111'])
      assert.ok(findsAddress(`https://x.example/${key}`, 'url'), key)
  })

  test('accepts free transactions in base32, base58, base64, base36 and hex, and in groups', () => {
    const pairs = fc.tuple(bytes(32), bytes(16), fc.nat(9_999_999), fc.nat(2_000_000_000))
    const ids = pairs.map(([digest, half, account, seconds]) => [
      base58.encode(Uint8Array.from([...digest, ...digest])),
      base58.encode(digest),
      base64url.encode(digest).replace('=', ''),
      base32nopad.encode(digest),
      `x-${BigInt(`0x${digest.toHex()}`).toString(36)}`,
      `${half.toHex()}:${digest.toHex()}-0`,
      `0-0-${account}-${seconds}-${account % 1000}`,
      (half.toHex().match(/.{4}/g) ?? []).join('-'),
      `${half.toHex().toUpperCase()}_${account}`,
      `batch-${account}:payout_${seconds}-of-${account}:${half.toHex()}`,
      `transaction-${account}-`.padEnd(88, 'x'),
    ])
    const refused = fc
      .sample(ids, { numRuns: 150 * SCALE, seed: 2 })
      .flat()
      .filter((id) => findsAddress(id, 'tx'))
    assert.deepEqual(refused, [])
  })

  test('accepts version numbers, UUIDs and content identifiers', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat(), (uuid, build) => !findsAddress(`build ${build} of ${uuid}`, 'prose')),
    )
    const contents = bytes(32).map((digest) => base58.encode(Uint8Array.from([0x12, 0x20, ...digest])))
    fc.assert(
      fc.property(contents, (id) => !findsAddress(`https://files.example/${id}`, 'url')),
      {
        numRuns: 200 * SCALE,
        seed: 7,
      },
    )
  })

  test('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: codePoints, maxLength: 300 }),
        (text) => typeof findsAddress(text, 'prose') === 'boolean',
      ),
      { numRuns: 30 * SCALE },
    )
    const odd = ['\ud800', '%', '%c3%28', '%ff'.repeat(50), '\udfff%41', '&#x110000;', '&#0;', '&', BASE58]
    for (const text of odd) findsAddress(text, 'prose')
  })
})
