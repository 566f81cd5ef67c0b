import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Renames a complete file within its directory, over a file of that name. Content and name are on the disk when this
 * returns. A crash before leaves the old file or the new one under the name, never a part.
 */
export function renameDurably(from: string, to: string): void {
  sync(openSync(from, 'r+'))
  renameSync(from, to)
  syncDirectory(dirname(to))
}

/** Error codes of systems on which a directory cannot be opened. */
const UNOPENED: ReadonlySet<unknown> = new Set(['EISDIR', 'EACCES', 'EPERM'])

/** Makes the names in a directory durable, if the system can open a directory. */
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
