import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { base58 } from '@scure/base'
import * as fc from 'fast-check'
import {
  DISGUISES,
  JOINED_DISGUISES,
  provenAddresses,
  PUBLISHED,
  segwitAddresses,
} from '../../test/story/addresses.ts'
import { findsAddress } from './address-guard.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const hex = (length: number) => bytes(length).map((each) => Buffer.from(each).toString('hex'))
const keys = bytes(32).map((key) => base58.encode(key))
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** The next character of the same kind: a digit, a small letter or a capital. */
function nextOf(letter: string): string {
  const kinds = ['23456789', 'acdefghjkmnpqrstuvwxyz', 'ACDEFGHJKLMNPQRSTUVWXYZ']
  const kind = kinds.find((each) => each.includes(letter)) ?? letter
  return kind.charAt((kind.indexOf(letter) + 1) % kind.length)
}

suite('the address guard', () => {
  for (const { family, address, source } of PUBLISHED) {
    test(`finds an address of ${family} (${source})`, () => {
      assert.ok(findsAddress(`see ${address}!`, 'prose'))
      assert.ok(findsAddress(`https://x.example/${address}`, 'url'))
    })
  }

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

  test('detects every address under any disguise: 20,000 attempts', () => {
    fc.assert(
      fc.property(fc.oneof(provenAddresses, keys), fc.constantFrom(...DISGUISES), (address, [, dress]) =>
        findsAddress(dress(address), 'prose'),
      ),
      { numRuns: 20_000 },
    )
  })

  test('finds an address with a checksum as a part of a longer word', () => {
    const proven = PUBLISHED.filter(({ family }) => family === 'Base58Check')
    assert.ok(proven.length >= 9)
    for (const { address } of proven)
      for (const word of [`paidto${address}thanks`, `x9${address}9x`, `a_${address}_b`])
        assert.ok(findsAddress(word, 'prose'), word)
  })

  test('joins groups where `0x` begins them or a checksum proves them', () => {
    const missed = PUBLISHED.filter(({ proof }) => proof !== 'length').flatMap(({ address }) =>
      JOINED_DISGUISES.flatMap(([name, dress]) => {
        // Taking hyphens out also removes those of base64.
        if (address.includes('-') && name.includes('hyphens')) return []
        return findsAddress(dress(address), 'prose') && findsAddress(dress(address), 'url')
          ? []
          : [`${address} ${name}`]
      }),
    )
    assert.deepEqual(missed, [])
  })

  test('joins groups in the form of ordinary words where a long checksum proves them', () => {
    // Ripple in groups of three, of which three are of mixed form.
    const groups = 'rse.QSQ.pro.MVK.wup.Rtv.UTf.t1H.9QR.poj.EJF.m'
    for (const joint of ['.', ' ', '-'])
      assert.ok(findsAddress(groups.replaceAll('.', joint), 'prose'), joint)
    // TRON without a digit.
    assert.ok(findsAddress('TDdwvb Joyi Pt ZVTo Rt ZXAw Bygb YXYHVEPE', 'prose'))
  })

  test('does not join groups that only their length would make an address', () => {
    for (const { address } of PUBLISHED.filter(({ proof }) => proof === 'length')) {
      assert.ok(!findsAddress((address.match(/.{1,4}/g) ?? []).join(' '), 'prose'))
    }
  })

  for (const { family, address, proof, source } of PUBLISHED) {
    if (proof !== 'checksum') continue
    test(`does not find ${family} with one character changed (${source})`, () => {
      const from = address.indexOf(':') + 1
      const found = Array.from(address).flatMap((letter, at) => {
        const other = nextOf(letter)
        // The last character of base32 has bits that belong to no byte; many programs ignore them.
        const isSpare = at === address.length - 1 && /Stellar|Filecoin/.test(family)
        if (at < from || other === letter || isSpare) return []
        const changed = address.slice(0, at) + other + address.slice(at + 1)
        return findsAddress(changed, 'url') ? [changed] : []
      })
      assert.deepEqual(found, [])
    })
  }

  test('finds an address in letters of one case that its form allows, and EIP-55 only in letters of both', () => {
    const digits = 'fb6916095ca1df60bb79ce92ce3ea74c37c5d359'
    assert.ok(!findsAddress(`https://git.example/commit/${digits}`, 'url'))
    assert.ok(!findsAddress(`https://git.example/commit/${digits.toUpperCase()}`, 'url'))
    assert.ok(findsAddress('https://x.example/fB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', 'url'))
  })

  test('takes 40 hex digits without `0x` for an address in a title, and for a commit in a URL', () => {
    const commit = '0123456789abcdef0123456789abcdef01234567'
    assert.ok(findsAddress(`as of ${commit}`, 'prose'))
    assert.ok(!findsAddress(`https://git.example/commit/${commit}`, 'url'))
    for (const digits of [commit.slice(1), `${commit}8`]) assert.ok(!findsAddress(`as of ${digits}`, 'prose'))
  })

  test('finds `0x` and 40 hex digits, unless a further hex digit follows', () => {
    const digits = 'ab'.repeat(20)
    for (const after of ['', 'g', '!', ' ab', '-'])
      assert.ok(findsAddress(`0x${digits}${after}`, 'url'), after)
    for (const after of ['0', 'a', 'F']) assert.ok(!findsAddress(`0x${digits}${after}`, 'url'), after)
  })

  test('finds bech32 between other letters, and in mixed case as a whole word', () => {
    const letters = fc.constantFrom('', 'to', 'WALLET', 'wallet', 'x9')
    fc.assert(
      fc.property(segwitAddresses, letters, letters, (address, before, after) =>
        findsAddress(before + address + after, 'prose'),
      ),
      { numRuns: 2_000 },
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
      { numRuns: 100_000, seed: 4 },
    )
    // Without the rule for digests, this many would be refused.
    assert.ok(hidden > 500, `${hidden} of 100,000 digests hold a run that decodes to 32 bytes`)
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
      { numRuns: 3_000, seed: 9 },
    )
  })

  test('accepts every Solana transaction, in a URL too', () => {
    const signatures = bytes(64).map((each) => base58.encode(each))
    fc.assert(
      fc.property(
        signatures,
        (tx) => !findsAddress(tx, 'tx') && !findsAddress(`https://x.example/${tx}`, 'url'),
      ),
      { numRuns: 3_000, seed: 5 },
    )
  })

  test('accepts version numbers, UUIDs and content identifiers', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat(), (uuid, build) => !findsAddress(`build ${build} of ${uuid}`, 'prose')),
    )
    const contents = bytes(32).map((digest) => base58.encode(Uint8Array.from([0x12, 0x20, ...digest])))
    fc.assert(
      fc.property(contents, (id) => !findsAddress(`https://files.example/${id}`, 'url')),
      {
        numRuns: 2_000,
        seed: 7,
      },
    )
  })

  test('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        (text) => typeof findsAddress(text, 'prose') === 'boolean',
      ),
    )
    const odd = ['\ud800', '%', '%c3%28', '%ff'.repeat(50), '\udfff%41', '&#x110000;', '&#0;', '&', BASE58]
    for (const text of odd) findsAddress(text, 'prose')
  })
})
