import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'

/** A test that a document names: its file, and a part of its name. */
type NamedTest = Readonly<{ path: string; name: string }>

/** Tests that a text names as `` `file`: "part of the name" ``. */
export function namedTests(text: string): readonly NamedTest[] {
  return [...text.matchAll(/`([\w./-]+\.ts)`:\s+"([^"]+)"/g)].map(([, path = '', name = '']) => ({
    path,
    name: name.replaceAll(/\s+/g, ' '),
  }))
}

/** Fails when the file does not exist, or has no test or suite of this name. */
export function assertTestExists({ path, name }: NamedTest): void {
  assert.ok(existsSync(join(ROOT, path)), path)
  const tests = textOf(path).matchAll(/\b(?:test|suite)\(\s*(['`])((?:\\.|(?!\1)[^])*)\1/g)
  assert.ok(
    [...tests].some(([, , title = '']) => title.includes(name)),
    `${path} has no test named "${name}"`,
  )
}
