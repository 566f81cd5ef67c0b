import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Html } from './html.ts'
import { kindName, onePaid, plainKind, poolKindName, whoWins } from './kind-words.ts'

const textOf = ({ markup }: Html): string => markup.replaceAll(/<[^>]*>/g, '')

suite('words of kinds', () => {
  test('show a kind without words of its own as it is', () => {
    // Every object has a property of the first names.
    for (const kind of ['constructor', 'tostring', 'best_of_1_00']) {
      const words = kind.replaceAll('_', ' ')
      const name = words.charAt(0).toUpperCase() + words.slice(1)
      assert.equal(textOf(whoWins(kind)), words)
      assert.equal(textOf(onePaid(kind)), words)
      assert.equal(textOf(plainKind(kind)), words)
      assert.equal(textOf(kindName(kind)), name)
      assert.equal(textOf(poolKindName(kind)), name)
    }
  })

  test('show one blank for underscores in a row, and none at the end', () => {
    assert.equal(textOf(onePaid('a__b_')), 'a b')
  })
})
