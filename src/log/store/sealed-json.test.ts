import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { formatSealed, parseSealed } from './sealed-json.ts'

suite('sealed JSON', () => {
  test('is parsed as it was formatted', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.deepEqual(parseSealed(Buffer.from(formatSealed(value))), JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('with any bit flipped, cut or added is none', () => {
    const whole = Buffer.from(formatSealed({ words: 'täglich', number: 12 }))
    for (let at = 0; at < whole.length; at += 1) {
      for (const bit of [1, 32]) {
        const flipped = Buffer.from(whole)
        flipped[at] = (flipped[at] ?? 0) ^ bit
        assert.equal(parseSealed(flipped), undefined, `byte ${at}`)
      }
      assert.equal(parseSealed(whole.subarray(0, at)), undefined)
    }
    assert.equal(parseSealed(Buffer.concat([whole, Buffer.from('\n')])), undefined)
  })
})
