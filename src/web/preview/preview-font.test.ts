import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textOf } from '../../../test/stage/document.ts'
import { readFontMetrics } from './font-metrics.ts'
import { drawableText, drawableToken, fitLine, previewFonts, textWidth, wrapLines } from './preview-font.ts'
import { TONES } from './preview-theme.ts'
import { cutAmount } from './preview-words.ts'

suite('the font of link previews', () => {
  test('has the same letters in both weights, and its licence beside it', () => {
    const [bold, regular] = Object.values(previewFonts()).map(readFontMetrics)
    for (let point = 0x20; point < 0x3_0000; point++) {
      assert.equal(bold?.has(point), regular?.has(point), point.toString(16))
    }
    assert.match(textOf('src/web/preview/fonts/OFL.txt'), /SIL Open Font License, Version 1\.1/)
  })

  test('has every character of figures, dates and words', () => {
    const text = 'ABCxyz 0123456789 .,:;%…—–’“”·×−()&-'
    assert.equal(drawableText(text), text)
  })

  const texts: readonly (readonly [text: string, drawn: string | null])[] = [
    ['Zażółć gęślą jaźń', 'Zażółć gęślą jaźń'],
    ['Съешь же ещё', 'Съешь же ещё'],
    ['Ξεσκεπάζω', 'Ξεσκεπάζω'],
    // A letter and a combining accent are one letter of the font.
    ['Cafe\u0301', 'Café'],
    ['a\u200Bb\u2066c\u2069\uFEFF', 'abc'],
    ['Party 🎉🎊 time', 'Party time'],
    ['two\n\tlines', 'two lines'],
    ['مرحبا', null],
    ['שלום', null],
    ['北京', null],
    ['🎉', null],
    ['…', null],
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

  test('breaks lines between words, and cuts with an ellipsis', () => {
    const width = textWidth('one two', 20, 'bold') + 1
    assert.deepEqual(wrapLines('one two one two', 2, width, 20, 'bold'), ['one two', 'one two'])
    assert.equal(wrapLines('one two one two one', 2, width, 20, 'bold'), null)
    assert.equal(wrapLines('unbreakableword', 2, width, 20, 'bold'), null)
    assert.equal(fitLine('one two', width, 20, 'bold'), 'one two')
    assert.match(fitLine('one two three four', width, 20, 'bold'), /^one.*…$/)
    assert.ok(textWidth(fitLine('one two three four', width, 20, 'bold'), 20, 'bold') <= width)
  })

  test('is drawn in the colours of the pages', () => {
    const tokens = textOf('src/web/style/tokens.css')
    const { payable, ...others } = TONES
    assert.match(textOf('src/web/style/book.css'), new RegExp(`payable[^{}]*\\{\\s*--part: ${payable};`))
    for (const [name, colour] of Object.entries(others)) {
      assert.match(tokens, new RegExp(`--${name}: light-dark\\(${colour},`), name)
    }
  })
})

suite('an amount of a link preview', () => {
  const amounts: readonly (readonly [amount: string, shown: string])[] = [
    ['0.000000000', '0'],
    ['0.000000001', '0.000000001'],
    ['0.009999999', '0.0099'],
    ['0.999999999', '0.99'],
    ['99.999999999', '99.99'],
    ['100.999999999', '100'],
    ['999999.999999999', '999,999'],
    ['1000000.000000000', '1.00 million'],
    ['5829999.999999999', '5.82 million'],
    ['12345678901.000000000', '12,345.67 million'],
    ['-1363.509856984', '-1,363'],
  ]
  for (const [amount, shown] of amounts) {
    test(`${amount} is cut to ${shown}, never rounded`, () => assert.equal(cutAmount(amount), shown))
  }
})
