import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { DARK, LIGHT, pictureStyle } from './chart-picture.ts'

const TOKENS = readFileSync(join(import.meta.dirname, '..', 'style', 'tokens.css'), 'utf8')

suite('the colours of pictures', () => {
  for (const name of Object.keys(LIGHT)) {
    test(`have the same ${name} as the pages, light and dark`, () => {
      const [, light, dark] = new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(TOKENS) ?? []
      assert.deepEqual([LIGHT[name], DARK[name]], [light, dark])
    })
  }

  test('follow the reader’s system unless the query has a theme', () => {
    assert.match(pictureStyle('auto'), /#fbfaf6.*@media \(prefers-color-scheme:dark\)\{.*#13161b/)
    assert.doesNotMatch(pictureStyle('light'), /#13161b|@media/)
    assert.doesNotMatch(pictureStyle('dark'), /\.bg\{fill:#fbfaf6\}|@media/)
  })
})
