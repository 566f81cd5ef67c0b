import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../stage/places.ts'
import type { Mutant } from './judge-mutant.ts'

/** A plausible bug, the promise that it breaks, and the test files of which one must fail, the cheapest first. */
type ListedMutant = Mutant & Readonly<{ promise: string; tests: readonly string[] }>

const LIST = join(import.meta.dirname, 'listed-mutants.txt')

/** Mutants of `listed-mutants.txt`, in its order. Throws when the list does not fit the sources any more. */
export const LISTED_MUTANTS: readonly ListedMutant[] = readFileSync(LIST, 'utf8')
  .trimEnd()
  .split(/\n\n(?=[^-+])/)
  .slice(1)
  .map(parseMutant)

function parseMutant(text: string): ListedMutant {
  const [promise = '', head = '', ...lines] = text.split('\n')
  const [id = '', file = '', ...tests] = head.split(' ')
  const after = (sign: string): readonly string[] =>
    lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(1))
  const isGone = after('+').length === 0
  const from = after('-').join('\n') + (isGone ? '\n' : '')
  const to = after('+').join('\n')
  const source = readFileSync(join(ROOT, file), 'utf8')
  const start = source.indexOf(from)
  assert.ok(start >= 0, `${id}: ${file} has no ${from}`)
  assert.equal(source.indexOf(from, start + 1), -1, `${id}: ${file} has this more than once: ${from}`)
  assert.notEqual(from, to, `${id} changes nothing`)
  return { id, file, start, from, to, promise, tests }
}
