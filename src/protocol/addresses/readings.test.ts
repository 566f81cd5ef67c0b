import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { findsAddress } from '../address-guard.ts'
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
      assert.equal(readingsOf(framed)?.last, CAPITALS)
    })
  }

  const ADDRESS = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
  const KEY = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkwyTDt1v'
  const groups = ADDRESS.replaceAll(/.{4}/g, '$& ')
  const hidden = `${KEY.slice(0, 22)}\u200b${KEY.slice(22)}`
  const neighbours: readonly string[] = [
    encodeURIComponent(`${groups}спасибо`),
    `${encodeURIComponent(groups)}é`,
    encodeURIComponent(`Приз${groups}é`),
    `https://x.example/?note=${encodeURIComponent(`${groups}осень`)}`,
    `награда${hidden}`,
    `к${hidden}`,
    encodeURIComponent(`${hidden}спасибо`),
  ]
  for (const text of neighbours) {
    test(`ends a word in another alphabet before an address that it touches: ${text}`, () => {
      for (const place of ['prose', 'url'] as const) assert.ok(findsAddress(text, place))
    })
  }
})
