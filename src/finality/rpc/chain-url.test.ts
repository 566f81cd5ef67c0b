import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ChainError, chainUrlsOf } from './chain-url.ts'

const refusal = (...urls: readonly string[]): string => {
  try {
    chainUrlsOf(urls)
  } catch (error) {
    assert.ok(error instanceof ChainError)
    return error.message
  }
  return assert.fail('it is refused')
}

suite('the URLs of a chain', () => {
  test('are named by number and host, without path, query and password', () => {
    const [first, second] = chainUrlsOf([
      'https://one.example/v2/KEY?token=KEY',
      'http://me:p%40ss@two.example:8899/',
    ])
    assert.equal(first?.name, 'URL 1 (one.example)')
    assert.equal(second?.name, 'URL 2 (two.example:8899)')
    assert.equal(first.authorization, null)
    assert.equal(second.href, 'http://two.example:8899/')
    assert.equal(second.authorization, `Basic ${Buffer.from('me:p@ss').toString('base64')}`)
  })

  test('are refused without a repetition of what was given', () => {
    assert.equal(refusal(), 'no URL is given: give the URL of an RPC server')
    assert.match(refusal('https://a.example', 'KEY'), /^URL 2 is no http or https URL/)
    assert.match(refusal('wss://a.example/KEY'), /^URL 1 is no http or https URL/)
    assert.equal(
      refusal('https://a.example/KEY', 'https://b.example', 'https://a.example/KEY#x'),
      'URL 3 (a.example) repeats URL 1: give each URL once',
    )
    assert.match(refusal(...Array.from({ length: 9 }, (_, at) => `https://${at}.example/KEY`)), /^9 URLs/)
    for (const urls of [
      ['KEY'],
      ['ftp://KEY.example'],
      ['https://KEY@'],
      ['https://a.example/KEY', 'https://a.example/KEY'],
    ]) {
      assert.doesNotMatch(refusal(...urls), /KEY/)
    }
  })
})
