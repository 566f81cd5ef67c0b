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
    for (const text of [`0x${DIGITS}fade`, `0x${DIGITS}faddress`, `bade${DIGITS}`])
      assert.ok(!findsAddress(text, 'prose'), text)
  })

  test('finds an address in letters of one case that its form allows, and EIP-55 only in letters of both', () => {
    const digits = 'fb6916095ca1df60bb79ce92ce3ea74c37c5d359'
    assert.ok(!findsAddress(`https://git.example/commit/${digits}`, 'url'))
    assert.ok(!findsAddress(`https://git.example/commit/${digits.toUpperCase()}`, 'url'))
    assert.ok(findsAddress('https://x.example/fB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', 'url'))
  })
})
