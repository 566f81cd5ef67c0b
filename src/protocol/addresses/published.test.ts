import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { PUBLISHED } from '../../../test/story/addresses.ts'
import { findsAddress } from '../address-guard.ts'

/** The next character of the same kind: a digit, a small letter or a capital. */
function nextOf(letter: string): string {
  const kinds = ['23456789', 'acdefghjkmnpqrstuvwxyz', 'ACDEFGHJKLMNPQRSTUVWXYZ']
  const kind = kinds.find((each) => each.includes(letter)) ?? letter
  return kind.charAt((kind.indexOf(letter) + 1) % kind.length)
}

/** Start of the part that the checksum proves. A prefix is no part of it, or may be left out. */
const provedFrom = (address: string): number => /^(?:nano_|.*:)?/.exec(address)?.[0].length ?? 0

suite('a published address', () => {
  test('is found in groups in the form of ordinary words where a long checksum proves it', () => {
    // Ripple in groups of three, of which three are of mixed form.
    const groups = 'rse.QSQ.pro.MVK.wup.Rtv.UTf.t1H.9QR.poj.EJF.m'
    for (const joint of ['.', ' ', '-'])
      assert.ok(findsAddress(groups.replaceAll('.', joint), 'prose'), joint)
    // TRON without a digit.
    assert.ok(findsAddress('TDdwvb Joyi Pt ZVTo Rt ZXAw Bygb YXYHVEPE', 'prose'))
  })

  test('is not found in groups where only its length would prove it', () => {
    for (const { address } of PUBLISHED.filter(({ proof }) => proof === 'length')) {
      assert.ok(!findsAddress((address.match(/.{1,4}/g) ?? []).join(' '), 'prose'))
    }
  })

  for (const { family, address, proof, source } of PUBLISHED) {
    if (proof !== 'checksum') continue
    test(`of ${family} is not found with one character changed (${source})`, () => {
      const from = provedFrom(address)
      const found = Array.from(address).flatMap((letter, at) => {
        const other = nextOf(letter)
        // The last character of base32 has bits that belong to no byte; many programs ignore them.
        const isSpare = at === address.length - 1 && /Stellar|Filecoin|principal/.test(family)
        if (at < from || other === letter || isSpare) return []
        const changed = address.slice(0, at) + other + address.slice(at + 1)
        return findsAddress(changed, 'url') ? [changed] : []
      })
      assert.deepEqual(found, [])
    })
  }

  test('is not found with one letter in the other case where its form has one case', () => {
    const isOneCase = (family: string) =>
      /Stellar|Algorand|Filecoin|cashaddr|ICAP|nano|Stacks|Kaspa|Conflux|principal/.test(family)
    const found = PUBLISHED.filter(({ family }) => isOneCase(family)).flatMap(({ address }) =>
      Array.from(address).flatMap((letter, at) => {
        const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
        // The case of a prefix of cashaddr is free.
        if (other === letter || at < provedFrom(address)) return []
        const changed = address.slice(0, at) + other + address.slice(at + 1)
        // A part of such a text may decode to 32 bytes by chance, which is no proof in a transaction.
        return findsAddress(changed, 'tx') ? [changed] : []
      }),
    )
    assert.deepEqual(found, [])
  })
})
