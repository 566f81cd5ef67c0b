import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { renameDurably, syncDirectory } from '../../log/store/durable-rename.ts'
import type { KnownWriters } from './other-writers.ts'
import type { ForkEvidence } from './tail-check.ts'

/** Opens the folder of a node's evidence. It is made when there is some. */
export function openForkFiles(folder: string): ForkEvidence {
  return {
    keep(name, bytes) {
      const path = join(folder, name)
      if (existsSync(path)) return
      if (!existsSync(folder)) {
        mkdirSync(folder, { recursive: true })
        syncDirectory(dirname(folder))
      }
      writeDurably(path, bytes)
    },
  }
}

/**
 * Opens the file with the names of the other writers, one a line. A node that starts waits for the marks of all of them.
 * An operator who retires a writer deletes its line.
 */
export function openKnownWriters(path: string): KnownWriters {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const names = new Set(text.split('\n').filter((name) => name !== ''))
  return {
    names: () => [...names],
    add(name) {
      names.add(name)
      writeDurably(path, Buffer.from([...names, ''].join('\n')))
    },
  }
}

/** Writes a file whole or not at all. */
function writeDurably(path: string, bytes: Uint8Array): void {
  const part = `${path}.part`
  writeFileSync(part, bytes)
  renameDurably(part, path)
}
