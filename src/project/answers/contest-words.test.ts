import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { assert as assertProperty, constantFrom, property, string } from 'fast-check'
import { hasWords, joinWords, searchWords, wordsOf } from './contest-words.ts'

const finds = (title: string, q: string): boolean => hasWords(joinWords(title), searchWords(q))

suite('a search for contests', () => {
  const same: readonly (readonly [title: string, q: string])[] = [
    ['Daily Sketch: Kitchen Chemistry', 'daily'],
    ['Daily Sketch: Kitchen Chemistry', 'CHEM kit'],
    ['Été à Genève', 'ete geneve'],
    ['Ete a Geneve', 'été'],
    ['İstanbul Kupası', 'istanbul kupasi'],
    ['ıssız', 'ISSIZ'],
    ['ISSIZ', 'ıssız'],
    ['Straße', 'STRASSE'],
    ['STRASSE', 'straße'],
    ['GROẞE', 'grosse'],
    ['ΟΔΟΣ', 'οδος'],
    ['Οδός', 'ΟΔΟΣ'],
    ['Ἀθῆναι', 'αθηναι'],
    ['Łódź', 'lodz'],
    ['København', 'kobenhavn'],
    ['Ёлка', 'елка'],
    ['東京カップ', '東京'],
    ['東京 カップ', 'カップ'],
    ['ＦＵＬＬ width', 'full'],
    ['🏆 Grand Cup', '🏆'],
    ['I ❤️ art', '❤'],
    ['👩‍🎨 painters', '👩‍🎨'],
    ['C++ sprint', 'c++'],
    ['Player’s Cup', "player's"],
    ['Caption Sprint #12', '12'],
    ['naïve', 'nai\u0308ve'],
    ['Photo\u00adgraphy', 'photography'],
    ['Photography', 'pho\u00adto\u2060graphy'],
    ['Wa\u200dter\ufe0f\u{E0100}co\u034flour', 'watercolour'],
    ['می\u200cخواهم', 'میخواهم'],
    ['\u2067Sketch\u2069', 'sketch'],
    ['\u202eSketch', 'sket\u200fch'],
    ['ก\u200bข', 'ข'],
    ['葛\u{E0100}城', '葛城'],
    ['😀\u20e0abc', 'abc'],
    ['- \u0903abc', 'abc'],
    ['1\ufe0f\u20e3 cup', '1'],
    ['🏴\u{E0067}\u{E007F} cup', '🏴'],
    ['Daily', 'da*'],
    ['Daily night', 'daily -night'],
  ]
  for (const [title, q] of same) {
    test(`finds ${title} by ${q}`, () => assert.ok(finds(title, q)))
  }

  const other: readonly (readonly [title: string, q: string])[] = [
    ['Daily Sketch', 'ketch'],
    ['Daily Sketch', 'daily night'],
    ['東京カップ', 'カップ'],
    ['かき', 'がき'],
    ['Photo\u00adgraphy', 'graphy'],
    ['Photo\u200bgraphy', 'photography'],
    ['🏆 Cup', '🎨'],
  ]
  for (const [title, q] of other) {
    test(`does not find ${title} by ${q}`, () => assert.ok(!finds(title, q)))
  }

  test('takes the syntax of query languages as plain words', () => {
    assert.deepEqual(wordsOf('"daily" NEAR(sketch) -night title:cup daily'), [
      'daily',
      'near',
      'sketch',
      'night',
      'title',
      'cup',
    ])
    assert.deepEqual(searchWords('a AND ab OR abc'), ['and', 'abc', 'or'])
  })

  test('ignores case, and is the same for a folded text', () => {
    const texts = string({ unit: 'grapheme', maxLength: 12 })
    assertProperty(
      property(texts, constantFrom('toUpperCase', 'toLowerCase', 'normalize'), (text, change) => {
        const words = wordsOf(text)
        assert.deepEqual(wordsOf(text[change]()), words)
        assert.deepEqual(wordsOf(words.join(' ')), words)
      }),
      { numRuns: 500 },
    )
  })
})
