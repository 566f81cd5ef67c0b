import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { countPixels, decodePng } from '../../../test/previews/png.ts'
import { type PreviewCard, type PreviewPart, previewSvg } from './preview-card.ts'
import { openRasteriser } from './rasterise.ts'

const PAPER = [0xfb, 0xfa, 0xf6] as const
/** Pixels beside the text of a picture. */
const MARGIN = 60
const SITE = { name: 'Daybook', url: 'https://book.example', simulated: false }
const PLAIN: PreviewCard = {
  above: null,
  headline: 'A',
  sentence: null,
  part: { is: 'nothing' },
  state: 'now',
}

const words = ['Paid', 'To be claimed', 'In review', 'Locked', 'Payable', 'Expired']
const amount = '12,345.67 million'
const parts: readonly PreviewPart[] = [
  {
    is: 'figures',
    figures: words.slice(0, 4).map((word) => [`${word}, LONGTOKEN`, '12,345,678.90 million']),
  },
  { is: 'bar', segments: words.map((word) => ({ share: 1 / 6, tone: 'go', word, amount: '99,999' })) },
  {
    is: 'facts',
    facts: words.slice(0, 4).map((word) => [word, 'A very long title of a contest '.repeat(6)]),
  },
]
const cards: readonly (readonly [what: string, card: PreviewCard])[] = [
  ...parts.map((part) => [`with long ${part.is}`, { ...PLAIN, part }] as const),
  ['with a long headline', { ...PLAIN, headline: `${amount} KOTS paid in prizes, and then some more of it` }],
  ['with a long sentence', { ...PLAIN, sentence: 'Still open and waiting for a claim. '.repeat(9) }],
  ['with a long title', { ...PLAIN, above: 'Title '.repeat(60) }],
  [
    'with the largest amount',
    { ...PLAIN, headline: '-999,999,999,999,999,999', tail: '.999999999 LONGTOKEN' },
  ],
  [
    'with everything',
    { ...PLAIN, above: 'T '.repeat(99), sentence: 'word '.repeat(60), part: parts[2] ?? PLAIN.part },
  ],
]

suite('a link preview', () => {
  for (const [what, card] of cards) {
    test(`${what} stays within its margins`, async () => {
      const rasterise = await rasteriser
      const pixels = decodePng(rasterise(previewSvg(card, SITE)))
      const all = 500 * MARGIN
      assert.equal(countPixels(pixels, [0, 110, MARGIN, 610], PAPER), all)
      assert.equal(countPixels(pixels, [1200 - MARGIN, 110, 1200, 610], PAPER), all)
    })
  }
})

const rasteriser = openRasteriser()
