import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { pictureStyle } from './chart-picture.ts'

suite('the colours of pictures', () => {
  test('are those of the pages, and follow the reader’s system unless the query has a theme', () => {
    assert.match(pictureStyle('auto'), /#fbfaf6.*@media \(prefers-color-scheme:dark\)\{.*#13161b/)
    assert.doesNotMatch(pictureStyle('light'), /#13161b|@media/)
    assert.doesNotMatch(pictureStyle('dark'), /\.bg\{fill:#fbfaf6\}|@media/)
  })
})
