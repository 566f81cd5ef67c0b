import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { textOf } from '../../../test/stage/document.ts'
import { ROOT } from '../../../test/stage/places.ts'
import { findsAddress } from '../address-guard.ts'

const DOCUMENTS = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT })
const WORDS = [...new Set(DOCUMENTS.flatMap((path) => textOf(path).match(/[A-Za-z]+/g) ?? []))]
/** Random titles: `DAYBOOK_CAMPAIGN=100000` tries more. */
const TITLES = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 8_000)
/** Most of these titles that may be refused. */
const CHANCE_MAX = 2 + Math.floor(TITLES / 50_000)

const HONEST: readonly string[] = [
  '',
  'Contest 42: the autumn round',
  'internationalization of counterrevolutionaries',
  'Donaudampfschifffahrtsgesellschaftskapitaen',
  'https://loyalty.example/2026-10/input-v1.json?download=1#top',
  'https://x.example/a%20b%2Fc%zz%&copy=1&amp;lang=en',
  'Ünïcödé tïtlé — 第四回コンテスト 🏆🏆🏆',
  'Осенний раунд 42: лучшие песни о море',
  'Ο μεγάλος διαγωνισμός του φθινοπώρου 2026',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'the empty 0x and 0x0 and 0xdeadbeef',
  '123e4567-e89b-12d3-a456-426614174000',
  'platform_income',
  '1999999999999999999999999999999999999999999999',
  'Error 0x80004005 at 2026-10-01 12:00:00, order 1234-5678',
  'A B C D E F G H I J K L M N O P Q R S T U V W X Y Z 1 2 3 4 5 6 7 8 9 0',
  'R&D, Q&A, AT&T and P&L: 10 rounds of 3x3 and 4x4',
  't h e q u i c k b r o w n f o x j u m p s o v e r t h e l a z y d o g '.repeat(3),
  '1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 '.repeat(10),
  `Série ${'3-1 2-1 1-1 2-2 4-2 3-3 '.repeat(80)}`,
  'Results: 6-4 6-3 7-5 6-2 7-6 6-1 '.repeat(15),
  'v1.2.3 v1.2.4 v2.1.1 '.repeat(24),
  'we do it as he is to go on by my way so I am up at it if we go to do no so be it or '.repeat(10),
]

const numbers = (joint: string, below: number) =>
  Array.from({ length: 1_000 }, (_, at) => ((at * 7_919 + 11) % below) + 1).join(joint)

test('a URL with a long list of numbers is accepted', () => {
  for (const joint of ['-', '.', '_', '+', '%20', ','])
    for (const below of [9, 99, 999, 9_999]) {
      const url = `https://x.example/?ids=${numbers(joint, below)}`.slice(0, 2_000)
      assert.equal(findsAddress(url, 'url'), false, url.slice(0, 60))
    }
})

test('a text that needs more than 1,536 checksums counts as an address', () => {
  assert.equal(findsAddress('q.'.repeat(2_000), 'prose'), true)
  assert.equal(findsAddress('q.'.repeat(250), 'prose'), false)
  assert.equal(findsAddress('q.'.repeat(250), 'prose', 512), true)
})

suite('ordinary text', () => {
  for (const text of HONEST) {
    test(`is accepted: ${JSON.stringify(text)}`, () => {
      assert.equal(findsAddress(text, 'prose'), false)
      assert.equal(findsAddress(text, 'url'), false)
    })
  }

  test('is accepted: every line of the documents that shows no address on purpose', () => {
    const lines = DOCUMENTS.flatMap((path) => textOf(path).split('\n')).filter(
      (line) => !/0x[0-9a-f]{40}(?![0-9a-f])/i.test(line),
    )
    assert.ok(lines.length > 3_000, `${lines.length} lines`)
    const refused = lines.filter((line) => findsAddress(line, 'prose'))
    assert.deepEqual(refused, [])
  })

  // A checksum of two bytes fits by chance: about one in 400,000 of these titles.
  test(`is accepted in all but ${CHANCE_MAX} of ${TITLES} random titles of ordinary words, numbers and dates`, () => {
    assert.ok(WORDS.length > 2_000, `${WORDS.length} words`)
    const styles = [
      (word: string) => word,
      (word: string) => word.toLowerCase(),
      (word: string) => word.toUpperCase(),
      (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1),
    ]
    const words = fc.oneof(
      { arbitrary: fc.constantFrom(...WORDS), weight: 10 },
      { arbitrary: fc.nat(99_999).map(String), weight: 2 },
      {
        arbitrary: fc.constantFrom('2026-10-01', '1st', '2nd', 'v2', 'Q4', '3x3', '24h', 'B', 'x', '#7'),
        weight: 1,
      },
    )
    const joints = fc.constantFrom(' ', ' ', ' ', '-', '. ', ', ', ' – ', '.', '_')
    const titles = fc
      .tuple(
        fc.constantFrom(...styles),
        fc.array(fc.tuple(words, joints), { minLength: 1, maxLength: 24, size: 'max' }),
      )
      .map(([style, parts]) =>
        parts
          .map(([word, joint]) => style(word) + joint)
          .join('')
          .slice(0, 200),
      )
    const refused = fc.sample(titles, TITLES).filter((title) => findsAddress(title, 'prose'))
    assert.ok(refused.length <= CHANCE_MAX, refused.join('\n'))
  })
})
