import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { offsetSelect, offsetText } from './time-offset.ts'

suite('an offset from UTC', () => {
  const written: readonly (readonly [minutes: number, text: string])[] = [
    [0, '+00:00'],
    [345, '+05:45'],
    [-570, '-09:30'],
    [840, '+14:00'],
    [-840, '-14:00'],
    [7, '+00:07'],
  ]
  for (const [minutes, text] of written) {
    test(`of ${minutes} minutes is written ${text}`, () => assert.equal(offsetText(minutes), text))
  }

  const valuesOf = (chosen: number): readonly string[] =>
    [...offsetSelect(chosen).markup.matchAll(/value="(-?\d+)"/g)].map(([, value = '']) => value)

  test('can be any that a time zone uses, from -14:00 to +14:00 in order', () => {
    const values = valuesOf(0).map(Number)
    assert.deepEqual(
      values,
      values.toSorted((a, b) => a - b),
    )
    assert.equal(values.at(0), -840)
    assert.equal(values.at(-1), 840)
    for (const part of [-570, -210, 330, 345, 525, 765]) assert.ok(values.includes(part), offsetText(part))
  })

  test('that no time zone uses is a choice only when the query has it', () => {
    assert.ok(!valuesOf(0).includes('7'))
    assert.match(offsetSelect(7).markup, /value="7" selected/)
  })
})
