import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { findsAddress } from '../address-guard.ts'

const DIGITS = 'ab'.repeat(20)

suite('a search for hex digits', () => {
  test('finds `0x` and 40 hex digits, unless a further hex digit follows', () => {
    for (const after of ['', 'g', '!', ' ab', '-'])
      assert.ok(findsAddress(`0x${DIGITS}${after}`, 'url'), after)
    for (const after of ['0', 'a', 'F']) assert.ok(!findsAddress(`0x${DIGITS}${after}`, 'url'), after)
  })

  test('finds `0x` and 40 hex digits in a longer word, also with the letter O', () => {
    for (const word of [`x0x${DIGITS}`, `walletOx${DIGITS}thx`, `OX${DIGITS}`])
      for (const place of ['prose', 'url', 'tx'] as const) assert.ok(findsAddress(word, place), word)
    assert.ok(!findsAddress(`x0x${DIGITS.slice(1)}`, 'prose'))
  })

  test('finds `0x` and 40 hex digits in groups, also before a word that begins with hex digits', () => {
    const groups = DIGITS.replaceAll(/.{8}/g, '$& ')
    for (const text of [`0x ${groups}`, `0x${groups}add it`, `pay 0x-${groups}add a bee, or fade`])
      assert.ok(findsAddress(text, 'url'), text)
  })

  test('finds no address in groups of 39 or 41 hex digits, or where `0x` begins no group', () => {
    for (const text of [
      `0x ${DIGITS.slice(1)}`,
      `0x ${DIGITS}a`,
      `0x ${DIGITS}a bee`,
      `is a10x${DIGITS.slice(0, 20)} ${DIGITS.slice(20)} or`,
    ])
      assert.ok(!findsAddress(text, 'url'), text)
  })

  test('takes 40 hex digits without `0x` for an address in a title, and for a commit in a URL', () => {
    const commit = '0123456789abcdef0123456789abcdef01234567'
    assert.ok(findsAddress(`as of ${commit}`, 'prose'))
    assert.ok(!findsAddress(`https://git.example/commit/${commit}`, 'url'))
    for (const digits of [commit.slice(1), `${commit}8`]) assert.ok(!findsAddress(`as of ${digits}`, 'prose'))
  })

  test('finds 40 hex digits between glued words that end or begin with hex digits', () => {
    for (const word of [
      'address',
      'addr',
      'acct',
      'account',
      'and',
      'at',
      'by',
      'for',
      'from',
      'eth',
      'btc',
      'ada',
    ]) {
      for (const place of ['prose', 'url'] as const)
        assert.ok(findsAddress(`0x${DIGITS}${word}`, place), word)
      assert.ok(findsAddress(`${DIGITS}${word}`, 'prose'), word)
    }
    for (const word of ['paid', 'send', 'the', 'prize', 'solana', 'usdc', 'ada'])
      for (const text of [`${word}${DIGITS}`, `${word}${DIGITS}address`])
        assert.ok(findsAddress(text, 'prose'), text)
    for (const text of [`0x${DIGITS}fade`, `bade${DIGITS}`]) assert.ok(!findsAddress(text, 'prose'), text)
  })

  test('finds 40 hex digits beside a word that ends or begins with hex digits', () => {
    for (const word of ['xdc', 'XDC', 'one', 'coffee', 'ufaced', 'ÜberFace'])
      for (const digits of [DIGITS, '1'.repeat(40)]) {
        assert.ok(findsAddress(`see ${word}${digits}`, 'prose'), word)
        assert.ok(findsAddress(`${word}${digits}address`, 'prose'), word)
      }
    for (const word of ['fork', 'decent', 'faddress', 'becalm'])
      for (const before of ['', '0x', 'xdc', 'wallet'])
        assert.ok(findsAddress(`${before}${DIGITS}${word}`, 'prose'), word)
    for (const text of [`xdc1${DIGITS}`, `0xdc${DIGITS}`, `xabcdefabc${DIGITS}`, `${DIGITS}1fork`])
      assert.ok(!findsAddress(text, 'prose'), text)
  })

  test('finds 40 hex digits after the prefix of XDC and of ICON everywhere, also in groups', () => {
    for (const prefix of ['xdc', 'XDC', 'hx', 'cx'])
      for (const place of ['prose', 'url', 'tx'] as const) {
        assert.ok(findsAddress(`${prefix}${DIGITS}`, place), prefix)
        assert.ok(findsAddress(`${'12'.repeat(32)}${prefix}${DIGITS}`, place), prefix)
      }
    for (const prefix of ['xdc ', 'hx', 'cx-'])
      assert.ok(findsAddress(prefix + DIGITS.replaceAll(/.{8}/g, '$& '), 'url'), prefix)
  })

  test('finds an address that 24 zeros pad to 64 hex digits', () => {
    const zeros = '0'.repeat(24)
    const vanity = `${'0'.repeat(12)}${DIGITS.slice(12)}`
    for (const address of [DIGITS, DIGITS.toUpperCase(), vanity])
      for (const word of [`${zeros}${address}`, `${address}${zeros}`])
        for (const text of [word, `0x${word}`, `sha256:${word}`, `0xa9059cbb${word}${'0'.repeat(63)}1`])
          for (const place of ['prose', 'url', 'tx'] as const)
            assert.ok(findsAddress(text, place), `${text} ${place}`)
    const groups = (zeros + DIGITS).replaceAll(/.{4}/g, '$& ')
    for (const text of [groups, `0x ${groups}`, encodeURIComponent(groups)])
      for (const place of ['prose', 'url'] as const) assert.ok(findsAddress(text, place), text)
  })

  test('finds no address in numbers of 64 digits, or in a digest with fewer zeros', () => {
    for (const text of [
      '0'.repeat(64),
      `1${'0'.repeat(100)}`,
      `0x${'0de0b6b3a7640000'.padStart(64, '0')}`,
      `0x${'f'.repeat(20).padStart(64, '0')}`,
      '10110111001'.padStart(64, '0'),
      `${'0'.repeat(23)}${'abcdef1'.repeat(6).slice(0, 41)}`,
      `${'0000 '.repeat(6)}${'0101 '.repeat(10)}`,
    ])
      for (const place of ['prose', 'url', 'tx'] as const)
        assert.ok(!findsAddress(text, place), `${text} ${place}`)
  })

  test('finds an address in letters of one case that its form allows, and EIP-55 only in letters of both', () => {
    const digits = 'fb6916095ca1df60bb79ce92ce3ea74c37c5d359'
    assert.ok(!findsAddress(`https://git.example/commit/${digits}`, 'url'))
    assert.ok(!findsAddress(`https://git.example/commit/${digits.toUpperCase()}`, 'url'))
    assert.ok(findsAddress('https://x.example/fB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', 'url'))
  })
})
