import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { base64 } from '@scure/base'
import { tonOf } from '../../../test/story/address-encodings.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import { isRepeatable, looksLikeAddress } from './address.ts'
import { parseQuery } from './query.ts'

/** TON in plain base64, with a plus sign that a form reads as a blank. */
const TON = 'EQDbq9m9XCa0Qb+c18B7grmXTZpx4TeSU7n2ROdVQofi0Yd6'

suite('an address in a request', () => {
  test('is found in plain base64 whose plus signs were decoded as blanks', () => {
    assert.ok(looksLikeAddress(TON.replace('+', ' ')))
    for (const raw of [TON, encodeURIComponent(TON), TON.replace('+', '%20')]) {
      assert.ok(!isRepeatable(`/contests/${raw}/ledger`), raw)
      assert.ok(!isRepeatable(`/contests?q=${raw}&limit=x`), raw)
      for (const rest of ['', '&limit=x']) {
        const query = parseQuery(`q=${raw}${rest}`, endpointOf('contests').parameters)
        assert.equal(query.ok ? 'accepted' : query.problem.code, 'address-forbidden', raw)
      }
    }
  })

  test('is found in plain base64 that plus signs cut into words of twelve letters', () => {
    const letters = base64.decode('EQBaaaaaaaaa+aaaaaaaaaaaa+aaaaaaaaaaaa+aaaaaaaaa')
    const text = base64.encode(tonOf(0x11, 0, letters.subarray(2, 34)))
    assert.ok(text.split('+').every((word) => word.length <= 12))
    assert.ok(looksLikeAddress(text))
    assert.ok(looksLikeAddress(text.replaceAll('+', ' ')))
  })

  test('is found where zeros pad it to a transaction', () => {
    const tx = `0x${'0'.repeat(24)}5aaeb6053f3e94c9b9a09f33669435e7ef1beaed`
    const parameters = endpointOf('events').parameters
    const codeOf = (value: string): string => {
      const query = parseQuery(`tx=${value}`, parameters)
      return query.ok ? 'accepted' : query.problem.code
    }
    assert.equal(codeOf(tx), 'address-forbidden')
    assert.equal(codeOf(tx.replace('000', 'abc')), 'accepted')
  })

  test('is taken for granted in a path that needs more than 512 checksums', () => {
    const runs = `${'aB'.repeat(31)}g`
    assert.ok(isRepeatable(`/${runs.repeat(3)}`))
    assert.ok(!isRepeatable(`/${runs.repeat(6)}`))
  })
})
