import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { testInput } from './input-suite.ts'
import { generatedDrafts, openGeneratedInput } from './generated-input.ts'
import { diceOf } from '../oracle/trial.ts'

const SEED = Number(process.env['ORACLE_SEED'] ?? 65_398)
const NAME = `generated ${SEED}`

suite(`three generated months (seed ${SEED})`, () => {
  test('have hundreds of events in one millisecond, and hundreds with one transaction', () => {
    const drafts = generatedDrafts(NAME)
    assert.ok(drafts.length > 50_000, `${drafts.length} drafts`)
    for (const values of [drafts.map(({ at }) => at), drafts.flatMap(({ tx }) => tx ?? [])]) {
      assert.ok(mostOfOne(values) > 256, `${mostOfOne(values)} of one`)
    }
  })

  testInput(() => openGeneratedInput(NAME), { rounds: 3, dice: diceOf(SEED) })
})

/** Count of the most frequent value. */
function mostOfOne(values: readonly string[]): number {
  return Math.max(
    ...Map.groupBy(values, (value) => value)
      .values()
      .map((same) => same.length),
  )
}
