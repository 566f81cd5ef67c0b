import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { renameDurably } from '../../log/store/durable-rename.ts'
import type { KnownWriters } from './other-writers.ts'

/**
 * Opens the file with the names of the other writers, one a line. A node that starts waits for the marks of all of them.
 * An operator who retires a writer deletes its line, also while nodes run: so the file is read at each call.
 */
export function openKnownWriters(path: string): KnownWriters {
  function names(): readonly string[] {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    return [...new Set(text.split('\n').filter((name) => name !== ''))]
  }
  return {
    names,
    add(name) {
      const part = `${path}.part`
      writeFileSync(part, [...new Set([...names(), name]), ''].join('\n'))
      renameDurably(part, path)
    },
  }
}
