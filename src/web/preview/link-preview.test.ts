import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textOf } from '../../../test/stage/document.ts'
import { countPixels, decodePng } from '../../../test/web/png.ts'
import { type LinkPreview, previewSvg } from './link-preview.ts'
import { drawableText, drawableToken } from './preview-font.ts'
import { openRasteriser } from './rasterise.ts'

const PAPER = [0xfb, 0xfa, 0xf6] as const
const INK = [0x17, 0x20, 0x2b] as const
/** Pixels beside the text of a picture. */
const MARGIN = 60
const SITE = { name: 'Daybook', url: 'https://book.example', simulated: false }
const SHORT: LinkPreview = { headline: 'A', figure: '1', date: '22 Nov 2026, 11:50 UTC' }

const rasteriser = openRasteriser()

suite('a link preview', () => {
  const previews: readonly (readonly [what: string, preview: LinkPreview])[] = [
    ['with a short headline and figure', SHORT],
    ['with a long headline', { ...SHORT, headline: 'A very long title of a contest '.repeat(6) }],
    ['with a long word', { ...SHORT, headline: 'W'.repeat(100) }],
    ['with the largest amount', { ...SHORT, figure: '-999,999,999,999,999,999.999999999 LONGTOKEN' }],
    ['with a long figure', { ...SHORT, figure: 'More has expired than was left to pay '.repeat(3) }],
  ]
  for (const [what, preview] of previews) {
    test(`${what} is 1200 × 630 pixels, and its text stays within its margins`, async () => {
      const pixels = decodePng((await rasteriser)(previewSvg(preview, SITE)))
      assert.deepEqual([pixels.width, pixels.height], [1200, 630])
      for (const [left, right] of [
        [0, MARGIN],
        [1200 - MARGIN, 1200],
      ] as const) {
        assert.equal(countPixels(pixels, [left, 110, right, 610], PAPER), 500 * MARGIN)
      }
      assert.ok(countPixels(pixels, [72, 36, 240, 86], INK) > 800, 'the name of the site')
      assert.ok(countPixels(pixels, [72, 170, 1128, 540], INK) > 300, 'the headline and the figure')
      assert.equal(countPixels(pixels, [0, 545, 1200, 560], PAPER), 1200 * 15, 'the date stands apart')
    })
  }

  test('says that a platform is simulated, and names its host', () => {
    const svg = previewSvg(SHORT, { ...SITE, simulated: true })
    assert.match(svg, /This platform is simulated\. No real money is involved\./)
    assert.match(svg, />book\.example<\/text/)
    assert.doesNotMatch(previewSvg(SHORT, SITE), /simulated/)
  })
})

suite('the font of link previews', () => {
  test('has its licence beside it', () => {
    assert.match(textOf('src/web/fonts/OFL.txt'), /SIL Open Font License, Version 1\.1/)
  })

  const texts: readonly (readonly [text: string, drawn: string | null])[] = [
    ['ABCxyz 0123456789 .,:;%…—–’“”·×−()&-', 'ABCxyz 0123456789 .,:;%…—–’“”·×−()&-'],
    ['Zażółć gęślą jaźń', 'Zażółć gęślą jaźń'],
    ['Съешь же ещё', 'Съешь же ещё'],
    ['Ξεσκεπάζω', 'Ξεσκεπάζω'],
    // A letter and a combining accent are one letter of the font.
    ['Cafe\u0301', 'Café'],
    ['a\u200Bb\u2066c\u2069\uFEFF', 'abc'],
    ['Party 🎉🎊 time', 'Party time'],
    ['two\n\tlines', 'two lines'],
    ['مرحبا', null],
    ['北京', null],
    ['🎉', null],
    ['', null],
  ]
  for (const [text, drawn] of texts) {
    test(`draws ${JSON.stringify(text)} as ${JSON.stringify(drawn)}`, () => {
      assert.equal(drawableText(text), drawn)
    })
  }

  test('names a token in words if it lacks the symbol', () => {
    assert.equal(drawableToken({ token: 'KOTS' }), 'KOTS')
    assert.equal(drawableToken({ token: '猫' }), 'tokens')
  })
})
