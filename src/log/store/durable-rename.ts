import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { giveOwner } from './file-owner.ts'

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
 * Writes a file under its name, over one that exists, for the owner of its folder only: root may run the command, and the
 * service as another user. Content and name are on the disk when this returns. No other process may write the file.
 */
export function writeDurably(path: string, content: string | Uint8Array): void {
  const making = `${path}.making`
  rmSync(making, { force: true })
  const file = openSync(making, 'wx', 0o600)
  try {
    giveOwner(file, dirname(path))
    writeFileSync(file, content)
  } finally {
    closeSync(file)
  }
  renameDurably(making, path)
}

/** End of the name of an unfinished file, before an id: two processes may make the same file. */
const UNIQUE_MAKING = '.making-'

/**
 * Makes a file that does not exist, for its owner only. Content and name are on the disk when this returns. A crash
 * before leaves no file, never an empty one. Throws EEXIST for an existing file.
 */
export function createDurably(path: string, content: string): void {
  const making = `${path}${UNIQUE_MAKING}${randomUUID()}`
  try {
    writeFileSync(making, content, { mode: 0o600, flag: 'wx', flush: true })
    // Unlike a rename, a link never replaces the file of another process. That one may have removed our leftover, and
    // then a link of the file to itself gives the same error.
    linkSync(existsSync(path) ? path : making, path)
  } finally {
    rmSync(making, { force: true })
  }
  syncDirectory(dirname(path))
  removeMakings(path)
}

/**
 * Removes what processes have left that were killed while they made this file. The file must exist, so that others that
 * make it stop. Nothing happens in a folder that cannot be listed or changed.
 */
export function removeMakings(path: string): void {
  const [folder, prefix] = [dirname(path), `${basename(path)}${UNIQUE_MAKING}`]
  try {
    for (const name of readdirSync(folder)) if (name.startsWith(prefix)) rmSync(join(folder, name))
  } catch {
    // A leftover does no harm.
  }
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
