import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Renames a complete file within its directory, over a file of that name. Content and name are on the disk when this
 * returns. A crash before leaves the old file or the new one under the name, never a part.
 */
export function renameDurably(from: string, to: string): void {
  sync(openSync(from, 'r+'))
  renameSync(from, to)
  syncDirectory(dirname(to))
}

/**
 * Makes a file that does not exist, for its owner only. Content and name are on the disk when this returns. A crash
 * before leaves no file, never an empty one. Throws EEXIST for an existing file.
 */
export function createDurably(path: string, content: string): void {
  const making = `${path}.making-${randomUUID()}`
  try {
    writeFileSync(making, content, { mode: 0o600, flag: 'wx', flush: true })
    // Unlike a rename, a link never replaces the file of another process.
    linkSync(making, path)
  } finally {
    rmSync(making, { force: true })
  }
  syncDirectory(dirname(path))
}

/** Makes a folder with its parents, unless it exists. The new names are on the disk when this returns. */
export function makeFolderDurably(path: string, mode = 0o777): void {
  const first = mkdirSync(path, { recursive: true, mode })
  if (first === undefined) return
  for (let at = resolve(path); ; at = dirname(at)) {
    syncDirectory(dirname(at))
    if (at === resolve(first) || at === dirname(at)) return
  }
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

/** Error codes of file systems that cannot be written or synced. */
const UNSYNCED: ReadonlySet<unknown> = new Set(['EINVAL', 'EROFS', 'ENOTSUP'])

/** Makes the name of a directory durable. One that is the root of a mounted file system needs none. */
export function syncParent(path: string): void {
  try {
    syncDirectory(dirname(resolve(path)))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && UNSYNCED.has(error.code))) throw error
  }
}

function sync(file: number): void {
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
