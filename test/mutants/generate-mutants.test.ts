import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isExecuted } from './coverage.ts'
import { mutantsOf } from './generate-mutants.ts'
import { KNOWN_SURVIVORS } from './survivors.ts'

const SOURCE = `import { assert } from './brand.ts'
type Pair = Readonly<{ low: 0 | 1 }>
export function first(low: number, high: number): number | undefined {
  assert(low <= high, 'in order')
  if (low === high) return undefined
  note('a text with 1 < 2')
  return low < high ? low + 1 : 0
}
const cut = (text: string, at: number): string => text.slice(at)
`

const shown = (source: string): readonly string[] =>
  mutantsOf('src/x.ts', source).map(({ id }) => id.replace('src/x.ts ', ''))

suite('generated mutants', () => {
  test('follow each rule, and change no type, import, text or check of our own', () => {
    assert.deepEqual(
      shown(SOURCE),
      [
        'first condition negated: low === high → !(low === high)',
        'first early exit dropped: if (low === high) return undefined → ;',
        'first equality: === → !==',
        "first call dropped: note('a text with 1 < 2') → ;",
        'first condition negated: low < high → !(low < high)',
        'first relation: < → <=',
        'first arithmetic: + → -',
        'first number: 1 → 2',
        'first number: 0 → 1',
        'cut place moved: at → at + 1',
      ].toSorted(byPlace(SOURCE)),
    )
  })

  test('keep their ids when other lines of the file move', () => {
    const moved = SOURCE.replace('type Pair', 'export const more = [3, 4]\ntype Pair')
    const known = shown(SOURCE)
    assert.deepEqual(
      shown(moved).filter((id) => !id.startsWith('more ') && !id.startsWith('module ')),
      known,
    )
  })

  test('number the same change in one function', () => {
    const twice = 'export const f = (a: number): boolean => a < 1 || a < 2\n'
    assert.ok(shown(twice).includes('f relation: < → <= (2)'))
  })
})

test('each known survivor is a mutant of its source', () => {
  const stale = Object.keys(KNOWN_SURVIVORS).filter((known) => {
    const file = known.slice(0, known.indexOf(' '))
    return mutantsOf(file).every(({ id }) => id !== known)
  })
  assert.deepEqual(stale, [])
})

/** Order of ids by the places of their mutants. */
function byPlace(source: string): (a: string, b: string) => number {
  const places = new Map(
    mutantsOf('src/x.ts', source).map(({ id, start }) => [id.replace('src/x.ts ', ''), start]),
  )
  return (a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0)
}

test('a place is executed from the start of its range to before its end', () => {
  const ranges = [3, 5, 9, 12]
  assert.deepEqual(
    [2, 3, 4, 5, 9, 11, 12].map((place) => isExecuted(ranges, place)),
    [false, true, true, false, true, true, false],
  )
  assert.equal(isExecuted(undefined, 3), false)
})
