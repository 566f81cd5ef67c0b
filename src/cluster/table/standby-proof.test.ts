import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { standbysNeeded } from './standby-proof.ts'

suite('the number of standbys that a setting requires', () => {
  for (const [names, needed] of [
    ['', 0],
    ['  ', 0],
    ['*', 1],
    ['daybook_a, daybook_b', 1],
    ['2 (a, b, c)', 2],
    ['ANY 2 (a, b, c)', 2],
    ['first 3(a, b, c)', 3],
    ['"any 2 (a)"', 1],
  ] as const) {
    test(`is ${needed} for \`${names}\``, () => assert.equal(standbysNeeded(names), needed))
  }
})
