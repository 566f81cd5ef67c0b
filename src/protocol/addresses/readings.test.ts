import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { foldLookAlikes } from './look-alikes.ts'
import { readingsOf } from './readings.ts'

const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
/** Alphabets without a compatibility form, by their first letter. */
const FRAMED = { 'in negative circles': 0x1f150, 'in negative squares': 0x1f170, 'of flags': 0x1f1e6 }

suite('a reading of a text', () => {
  for (const [name, first] of Object.entries(FRAMED)) {
    test(`has each letter ${name} as a capital`, () => {
      const framed = Array.from(CAPITALS, (_, at) => String.fromCodePoint(first + at)).join('')
      assert.equal(foldLookAlikes(framed), CAPITALS)
      assert.equal(readingsOf(framed)?.at(-1), CAPITALS)
    })
  }
})
