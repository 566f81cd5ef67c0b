import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../stage/places.ts'
import type { ListedMutant } from './listed/listed-mutant.ts'

/** A bug of a few characters: the same text at one place of one source replaced by another. */
export type Mutant = Readonly<{
  /** Stays the same when other lines of the file move. */
  id: string
  /** Source of the product, as a path from the root. */
  file: string
  /** Place of the replaced text, in characters from the start of the file. */
  start: number
  from: string
  to: string
}>

/** Finds the text of a listed mutant. Throws when the file has it never or twice: then the list is out of date. */
export function locate({ id, file, from, to }: ListedMutant): Mutant {
  const source = sourceOf(file)
  const start = source.indexOf(from)
  assert.ok(start >= 0, `${id}: ${file} has no ${from}`)
  assert.equal(source.indexOf(from, start + 1), -1, `${id}: ${file} has this more than once: ${from}`)
  assert.notEqual(from, to, `${id} changes nothing`)
  return { id, file, start, from, to }
}

export const sourceOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** Line of a place in a source, from 1. */
export function lineAt(source: string, start: number): number {
  return source.slice(0, start).split('\n').length
}
