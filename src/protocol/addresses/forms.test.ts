import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { cashaddrOf } from '../../../test/story/address-encodings.ts'
import {
  type AddressForm,
  ANYWHERE_FORMS,
  FORMS,
  GROUPED_FORMS,
  KEY,
  SHORT_FORMS,
} from '../../../test/story/address-forms.ts'
import { NEAR_MISSES } from '../../../test/story/address-near-misses.ts'
import { findsAddress } from '../address-guard.ts'

/** Addresses of each form. The seed is fixed, because a short checksum is no proof in one of 10,000 addresses in pairs. */
const SIZE = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 2)
const SAMPLE = { numRuns: SIZE, seed: 1 }

/** Addresses of each form whose groups have few digits. */
const RUNS = 20 * SIZE

type Dress = (address: string) => string

/** Texts with an address that are not refused. */
function missedOf(forms: readonly AddressForm[], ...dresses: readonly Dress[]): readonly string[] {
  return forms.flatMap(({ name, addresses }) =>
    fc
      .sample(addresses, SAMPLE)
      .flatMap((address) => dresses.map((dress) => dress(address)))
      .filter((text) => !findsAddress(text, 'prose') || !findsAddress(text, 'url'))
      .map((text) => `${name}: ${text}`),
  )
}

const groups = (size: number, joint: string) => (text: string) =>
  (text.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(joint)

suite('an address of a known form', () => {
  test('is found as a word', () => {
    assert.deepEqual(
      missedOf(
        FORMS,
        (text) => text,
        (text) => `to:${text}.`,
      ),
      [],
    )
  })

  test('is found in a free transaction', () => {
    const all = FORMS.flatMap(({ addresses }) => fc.sample(addresses, SAMPLE))
    assert.deepEqual(
      all.filter((text) => !findsAddress(text, 'tx')),
      [],
    )
  })

  test('is found in a free transaction inside a longer word', () => {
    const texts = ANYWHERE_FORMS.flatMap(({ addresses }) => fc.sample(addresses, SAMPLE))
    assert.deepEqual(
      texts.map((text) => `7x${text}7x`).filter((text) => !findsAddress(text, 'tx')),
      [],
    )
  })

  test('is found inside a longer word where its checksum is long', () => {
    assert.deepEqual(
      missedOf(ANYWHERE_FORMS, (text) => `7x${text}7x`),
      [],
    )
  })

  test('is found in groups', () => {
    assert.deepEqual(missedOf(GROUPED_FORMS, groups(4, ' '), groups(7, '-')), [])
  })

  test('is found in pairs, in threes, in fours and in halves where few groups of it have a digit', () => {
    const forms = GROUPED_FORMS.filter(({ name }) => /Stellar G|SS58|ICAP|Mina|XRP seed|principal/.test(name))
    const sizes = [2, 3, 4, 28]
    const missed = forms.flatMap(({ addresses }) =>
      fc
        .sample(addresses, { numRuns: RUNS, seed: 1 })
        .flatMap((address) => sizes.map((size) => groups(size, ' ')(address)))
        .filter((text) => !findsAddress(text, 'url')),
    )
    assert.ok(forms.length >= 12, `${forms.length} forms`)
    assert.deepEqual(missed, [])
  })

  test('is found in groups with any dots, bullets and dashes between them', () => {
    const joints = Array.from('.·•‧∙⋅。・◦●⦁⸱᛫ꞏ۔⁃˗➖─━−–—―‐‑‒﹘﹣－⁻₋․﹒')
    const ton = 'EQBL2_3lMiyywU17g-or8N7v9hDmPCpttzBPE2isF2GTzpK4'
    const missed = joints.filter((joint) => !findsAddress(groups(4, joint)(ton), 'prose'))
    assert.deepEqual(missed, [])
    const dresses = joints.flatMap((joint) => [groups(4, joint), groups(6, ` ${joint} `)])
    assert.deepEqual(missedOf(SHORT_FORMS, ...dresses), [])
  })

  test('is found in groups with common words glued to its ends', () => {
    const words: readonly Dress[] = [
      (text) => `Prize paid to${groups(4, ' ')(text)}`,
      (text) => `${groups(4, ' ')(text)}thanks`,
      (text) => `sentTo${groups(5, '-')(text)}ThanksPlease`,
      (text) => `https://x.example/?note=token${groups(4, '+')(text)}`,
    ]
    assert.deepEqual(missedOf(GROUPED_FORMS, ...words), [])
  })

  test('is found when it touches a digest, whose digits it may lengthen', () => {
    const digest = createHash('sha512').update('a digest').digest('hex')
    const others = FORMS.filter(({ name }) => !name.includes('EIP-55'))
    for (const length of [64, 96, 128]) {
      const digits = digest.slice(0, length)
      assert.deepEqual(
        missedOf(
          others,
          (text) => `${digits}${text}`,
          (text) => `${text}${digits}`,
          (text) => `sha256:${digits}${text}`,
        ),
        [],
      )
      for (const text of [`${digits}0x${'ab'.repeat(20)}`, `${digits.slice(1)}0x${'ab'.repeat(20)}`])
        for (const place of ['prose', 'url', 'tx'] as const) assert.ok(findsAddress(text, place), text)
      const grouped = `${digits}0x${'abcd '.repeat(10)}`
      for (const place of ['prose', 'url'] as const) assert.ok(findsAddress(grouped, place), grouped)
    }
  })

  test('is found with up to three common words glued to each of its ends', () => {
    const words: readonly Dress[] = [
      (text) => `wallet${text}`,
      (text) => `sentTo${text}Thanks`,
      (text) => `PAIDTOTHE${text}wonthanksplease`,
      (text) => `token${text}`,
    ]
    assert.deepEqual(missedOf([KEY, ...SHORT_FORMS], ...words), [])
  })

  test('is found with any of the common words glued to either end', () => {
    const words =
      'address addr wallet account acct payout paid pay sent send to from for by at is my the winner prize player user owner solana sol usdc usdt token mint and or btc eth ton xrp ada xmr thanks thx please pls now here won wins got has'
    const dresses = words
      .split(' ')
      .flatMap((word): Dress[] => [
        (text) => `${word}${text}`,
        (text) => `${text}${word}`,
        (text) => `${text}${word.toUpperCase()}`,
      ])
    assert.deepEqual(missedOf([KEY, ...SHORT_FORMS], ...dresses), [])
    // A key that begins as a content identifier does.
    assert.ok(findsAddress('QmEhVGviEHYp1fWfe6hW13ooeGcavvpciFfqCZMSiT2won', 'prose'))
  })
})

suite('a cashaddr address after a prefix of its own', () => {
  test('is found before and after words that touch it', () => {
    const addresses = ['etoken', 'otherchain'].map((prefix) => {
      const payload = cashaddrOf(prefix, 0, new Uint8Array(20).fill(7))
      return `${prefix}:${payload}`
    })
    for (const address of addresses)
      for (const place of ['prose', 'url', 'tx'] as const)
        for (const text of [address, `${address}thanks`, `pay ${address}quzzle`])
          assert.ok(findsAddress(text, place), text)
    const [etoken = ''] = addresses
    for (const text of [`wallet${etoken}`, etoken.replaceAll(/[^:]{4}/g, '$& ')])
      assert.ok(findsAddress(text, 'prose'), text)
  })
})

suite('a TON address in groups', () => {
  const [PLAIN, HYPHEN, UNDERSCORE, SLASHES] = [
    'EQA1mglns79vpf8AI3hFFWLHqs67ndiCmKhzwpIScHG2rILy',
    'EQD5CDWA6XAV2Lm41RBp4HUo-ej1IGnQVfi5mJWw6UC1SNfV',
    'EQDL6UPZq7kDiUtJg_mrmcMpy6nDGat5g8lLCQM5q1lDaahR',
    'EQCE8n81C/2NqZGi9hNzqjX5Cnp/H1J8dwA3hQwCt4zrgnUJ',
  ] as const
  const grouped: readonly string[] = [
    ...['_', '+', '-', ' ', '.'].map((joint) => groups(6, joint)(PLAIN)),
    ...['_', '+', ' '].map((joint) => groups(6, joint)(HYPHEN)),
    ...['+', ' ', '-'].map((joint) => groups(7, joint)(UNDERSCORE)),
    groups(24, ' ')(SLASHES),
  ]
  for (const text of grouped)
    test(`is found: ${text}`, () => {
      for (const place of ['prose', 'url'] as const) assert.ok(findsAddress(text, place))
    })
})

suite('a text with the checksum of an address', () => {
  for (const { name, addresses } of NEAR_MISSES) {
    test(`is accepted in a form that no address has: ${name}`, () => {
      const refused = fc
        .sample(addresses, SAMPLE)
        .filter((text) => findsAddress(text, 'url') || findsAddress(text, 'tx'))
      assert.deepEqual(refused, [])
    })
  }
})
