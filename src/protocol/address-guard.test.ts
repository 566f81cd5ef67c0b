import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import { base58, base58xrp, bech32, bech32m, createBase58check } from '@scure/base'
import * as fc from 'fast-check'
import { openAddressGuard } from './address-guard.ts'

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest())
const { finds: findsAddress, proves } = openAddressGuard(sha256)
const base58check = createBase58check(sha256)
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const hex = (length: number) => bytes(length).map((each) => Buffer.from(each).toString('hex'))

const ripple = bytes(20).map((payload) => {
  const body = Uint8Array.from([0, ...payload])
  return base58xrp.encode(Uint8Array.from([...body, ...sha256(sha256(body)).subarray(0, 4)]))
})
const ton = fc
  .tuple(fc.constantFrom(0x11, 0x51, 0x91, 0xd1), fc.constantFrom(0, 0xff), bytes(32))
  .map(([tag, chain, key]) => {
    const body = Uint8Array.from([tag, chain, ...key])
    // Long division by definition, unlike the shift register of the guard.
    const POLYNOMIAL = 0x11021n
    let rest = BigInt(`0x${Buffer.from(body).toString('hex')}`) << 16n
    for (let bit = 34 * 8 - 1; bit >= 0; bit--)
      if ((rest >> BigInt(bit + 16)) & 1n) rest ^= POLYNOMIAL << BigInt(bit)
    return Buffer.from([...body, Number(rest >> 8n), Number(rest & 255n)])
  })
const segwit = fc
  .tuple(
    fc.constantFrom('bc', 'tb', 'ltc'),
    fc.integer({ min: 0, max: 16 }),
    fc.constantFrom(20, 32).chain(bytes),
  )
  .map(([prefix, version, program]) => {
    const coder = version === 0 ? bech32 : bech32m
    return coder.encode(prefix, [version, ...bech32.toWords(program)])
  })
const prefixed = fc
  .tuple(
    fc.constantFrom('cosmos', 'osmo', 'addr', 'stake', 'addr_test', 'inj', 'sei', 'npub'),
    fc.constantFrom(20, 29, 32, 57).chain(bytes),
  )
  .map(([prefix, program]) => bech32.encode(prefix, bech32.toWords(program), false))

/** Random addresses of every family that the guard knows. */
const addresses = fc.oneof(
  bytes(32).map((key) => base58.encode(key)),
  fc
    .tuple(fc.constantFrom('0x', '0X'), hex(20), fc.boolean())
    .map(([x, digits, upper]) => x + (upper ? digits.toUpperCase() : digits)),
  segwit,
  segwit.map((address) => address.toUpperCase()),
  prefixed,
  fc
    .tuple(fc.constantFrom(0, 5, 30, 0x41, 48, 0x6f), bytes(20))
    .map(([version, key]) => base58check.encode(Uint8Array.from([version, ...key]))),
  fc
    .tuple(fc.constantFrom([0x1c, 0xb8], [6, 161, 159]), bytes(20))
    .map(([version, key]) => base58check.encode(Uint8Array.from([...version, ...key]))),
  ripple,
  ton.map((each) => each.toString('base64url')),
  ton.map((each) => each.toString('base64')),
)

const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const fullWidth = (text: string) =>
  text.replaceAll(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0))
const between = (mark: string) => (text: string) => Array.from(text).join(mark)

/** Disguises under which an address remains readable. */
const dresses: readonly (readonly [name: string, dress: (text: string) => string])[] = [
  ['bare', (text) => text],
  ['in a sentence', (text) => `paid out to ${text} last night`],
  ['in brackets', (text) => `(${text})`],
  ['after a colon', (text) => `wallet:${text}.`],
  ['in quotes', (text) => `"${text}"`],
  ['behind another', (text) => `${text},${text}`],
  ['in the path of a URL', (text) => `https://explorer.example/address/?a=${text}&tab=1`],
  ['after an encoded comma', (text) => `https://x.example/?q=a%2C${encodeURIComponent(text)}`],
  ['percent-encoded', percent],
  ['percent-encoded twice', (text) => percent(percent(text))],
  ['with zero-width spaces', between('\u200b')],
  ['with word joiners', between('\u2060')],
  ['with soft hyphens', between('\u00ad')],
  ['with combining marks', between('\u0332')],
  ['with variation selectors', between('\ufe0f')],
  ['in full-width letters', fullWidth],
  ['in full-width letters, percent-encoded', (text) => percent(fullWidth(text))],
  ['beside a digest', (text) => `${'ab'.repeat(32)} ${text}`],
  ['before an em dash', (text) => `${text}—thanks`],
]

suite('the address guard', () => {
  test('detects every address under any disguise: 20,000 attempts', () => {
    fc.assert(
      fc.property(addresses, fc.constantFrom(...dresses), (address, [, dress]) =>
        findsAddress(dress(address)),
      ),
      { numRuns: 20_000 },
    )
  })

  test('finds bech32 between other letters', () => {
    const letters = fc.constantFrom('', 'to', 'WALLET', 'wallet', 'x9')
    fc.assert(
      fc.property(segwit, letters, letters, (address, before, after) =>
        findsAddress(before + address + after),
      ),
      { numRuns: 2_000 },
    )
  })

  test('finds bech32 of mixed case as a whole word', () => {
    const mix = (text: string) =>
      text.replaceAll(/.{2}/g, (pair) => pair.slice(0, 1).toUpperCase() + pair.slice(1))
    fc.assert(fc.property(segwit, (address) => findsAddress(`to ${mix(address)}.`)))
  })

  const published: readonly (readonly [name: string, address: string])[] = [
    ['the Solana system programme', '11111111111111111111111111111111'],
    ['the Solana token programme', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
    ['the genesis block of Bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['a script of Bitcoin', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
    ['BIP 173', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'],
    ['BIP 350', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
    ['pay to anchor', 'bc1pfeessrawgf'],
    ['EIP 55', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['TRON', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['the XRP ledger', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
  ]
  for (const [name, address] of published) {
    test(`finds the address of ${name}`, () => assert.ok(findsAddress(`see ${address}!`)))
  }

  test('proves an address by `0x` or a checksum, and not by base58 of 32 bytes, which may be a transaction', () => {
    const unproven = new Set(['the Solana system programme', 'the Solana token programme'])
    for (const [name, address] of published) assert.equal(proves(address), !unproven.has(name), name)
    fc.assert(
      fc.property(bytes(32), (key) => {
        const text = base58.encode(key)
        return findsAddress(text) && !proves(text)
      }),
      { seed: 6 },
    )
  })

  const honest: readonly string[] = [
    '',
    'Contest 42: the autumn round',
    'internationalization of counterrevolutionaries',
    'Donaudampfschifffahrtsgesellschaftskapitaen',
    'https://loyalty.example/2026-10/input-v1.json?download=1#top',
    'https://x.example/a%20b%2Fc%zz%',
    'Ünïcödé tïtlé — 第四回コンテスト 🏆🏆🏆',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    '0x9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'commit 0123456789abcdef0123456789abcdef01234567',
    'the empty 0x and 0x0 and 0xdeadbeef',
    '123e4567-e89b-12d3-a456-426614174000',
    'platform_income',
    '1999999999999999999999999999999999999999999999',
  ]
  for (const text of honest) {
    test(`accepts ${JSON.stringify(text)}`, () => assert.equal(findsAddress(text), false))
  }

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
          return !findsAddress(before + digest)
        },
      ),
      { numRuns: 20_000, seed: 4 },
    )
    // Without the rule for digests, this many would be refused.
    assert.ok(hidden > 100, `${hidden} of 20,000 digests hold a run that decodes to 32 bytes`)
  })

  test('accepts every Solana transaction', () => {
    fc.assert(
      fc.property(bytes(64), (signature) => !findsAddress(base58.encode(signature))),
      { numRuns: 20_000, seed: 5 },
    )
  })

  test('accepts version numbers and UUIDs', () => {
    fc.assert(fc.property(fc.uuid(), fc.nat(), (uuid, build) => !findsAddress(`build ${build} of ${uuid}`)))
  })

  test('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        (text) => typeof findsAddress(text) === 'boolean',
      ),
    )
    for (const text of ['\ud800', '%', '%c3%28', '%ff'.repeat(50), '\udfff%41']) findsAddress(text)
  })

  test('takes under 20 ms for the worst text of 2,000 characters', () => {
    const worst = [
      '1',
      'q',
      '1q',
      'a1',
      'z',
      'f',
      '0x',
      '%41',
      '%25',
      'Ａ',
      '\u200b',
      'bc1qqqqqqqqqqqqq',
      'ﷺ',
      'z0',
    ]
    for (const piece of [...worst, `a1${'q'.repeat(998)}`, `${'a'.repeat(24)}1${'q'.repeat(11)}`]) {
      const text = piece.repeat(2000).slice(0, 2000)
      const times = Array.from({ length: 6 }, () => {
        const begun = performance.now()
        findsAddress(text)
        return performance.now() - begun
      })
      // The fastest of several runs, because other load may slow any single one.
      const ms = Math.min(...times)
      assert.ok(ms < 20, `${ms.toFixed(2)} ms for ${piece.slice(0, 20)}…`)
    }
  })
})
