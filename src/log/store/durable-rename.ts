import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Gives a file that is whole another name in its directory, in place of what has that name. When this returns both are
 * on the disk; a crash before leaves the old file under the name or the new one, never a part.
 */
export function renameDurably(from: string, to: string): void {
  sync(openSync(from, 'r+'))
  renameSync(from, to)
  syncDirectory(dirname(to))
}

/** What a system says that lets no directory be opened. */
const UNOPENED: ReadonlySet<unknown> = new Set(['EISDIR', 'EACCES', 'EPERM'])

/** Makes the names in a directory durable, where the system lets a directory be opened. */
export function syncDirectory(path: string): void {
  let directory: number
  try {
    directory = openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && UNOPENED.has(error.code)) return
    throw error
  }
  sync(directory)
}

function sync(file: number): void {
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
