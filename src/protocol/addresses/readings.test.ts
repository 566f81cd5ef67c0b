import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { findsAddress } from '../address-guard.ts'
import { foldLookAlikes } from './look-alikes.ts'
import { readingsOf } from './readings.ts'

const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const DIGITS = '123456789'
/** Rows of letters and digits without a compatibility form of one character, by the first character. */
const FRAMED: readonly (readonly [name: string, first: number, row: string])[] = [
  ['in negative circles', 0x1f150, CAPITALS],
  ['in negative squares', 0x1f170, CAPITALS],
  ['of flags', 0x1f1e6, CAPITALS],
  ['as capitals in parentheses', 0x1f110, CAPITALS],
  ['as small letters in parentheses', 0x249c, CAPITALS.toLowerCase()],
  ['as digits in parentheses', 0x2474, DIGITS],
  ['as digits with a full stop', 0x2488, DIGITS],
  ['as digits in circles', 0x2460, DIGITS],
  ['as digits in negative circles', 0x2776, DIGITS],
  ['as sans-serif digits in circles', 0x2780, DIGITS],
  ['as sans-serif digits in negative circles', 0x278a, DIGITS],
  ['as digits in double circles', 0x24f5, DIGITS],
  ['as digits with a comma', 0x1f101, '0123456789'],
  ['as zeros in circles', 0x1f10b, '00'],
  ['as a zero in a negative circle', 0x24ff, '0'],
]
/** Letters of other alphabets beside the Latin letters and digits that they look like. */
const ALIKE: readonly (readonly [name: string, letters: string, latin: string])[] = [
  ['Cyrillic', 'ԚҒғзбҺ', 'QFf36h'],
  ['Latin', 'ȷɋꞯʠɗ', 'jqqqd'],
  ['Coptic', 'ⲂⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬⲟⲣⲥ', 'BHIKMNOPCTYXopc'],
  ['Lisu', 'ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ', 'ABCDEFGHIJKLMNOPRSTUVWXYZ'],
  ['Cherokee', 'ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏕᎢᏙᎳᎽᏃᏎ', 'ABCDEGHJKLMPRSTVWYZ4'],
  ['Canadian', 'ᗩᗷᑕᗪᖴᕼᒍᒪᗰᑎᑭᑫᖇᔕᑌᐯᗯ᙭ᘔ', 'ABCDFHJLMNPqRSUVWXZ'],
]

suite('a reading of a text', () => {
  for (const [name, first, row] of FRAMED) {
    test(`has each character ${name} as a plain one`, () => {
      const framed = Array.from(row, (_, at) => String.fromCodePoint(first + at)).join('')
      assert.equal(foldLookAlikes(framed), row)
      assert.equal(readingsOf(framed)?.last, row)
    })
  }

  for (const [name, letters, latin] of ALIKE)
    test(`has each ${name} letter as the one that it looks like`, () =>
      assert.equal(foldLookAlikes(letters), latin))

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
