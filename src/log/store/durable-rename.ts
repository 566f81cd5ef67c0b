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
 * Renames a complete file within its directory, replacing a file of that name. Content and name are on the disk when
 * this returns. After a crash the name has the old file or the new one, never a part.
 */
export function renameDurably(from: string, to: string): void {
  sync(openSync(from, 'r+'))
  renameSync(from, to)
  syncDirectory(dirname(to))
}

/**
 * Writes a file under its name, replacing an existing one. Only the owner of its folder may read it, because root may
 * run the command and another user the service. Content and name are on the disk when this returns. No other process
 * may write the file.
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

/** Suffix of an unfinished file, before an id, because two processes may make the same file. */
const UNIQUE_MAKING = '.making-'

/**
 * Creates a file for its owner only. Content and name are on the disk when this returns. A crash before leaves no file,
 * never an empty one. Throws EEXIST for an existing file.
 */
export function createDurably(path: string, content: string): void {
  const making = `${path}${UNIQUE_MAKING}${randomUUID()}`
  try {
    writeFileSync(making, content, { mode: 0o600, flag: 'wx', flush: true })
    // A link never replaces the file of another process, as a rename would. If that process removed our unfinished
    // file, linking the file to itself gives the same error.
    linkSync(existsSync(path) ? path : making, path)
  } finally {
    rmSync(making, { force: true })
  }
  syncDirectory(dirname(path))
  removeMakings(path)
}

/**
 * Removes unfinished files of processes that were killed while they made this file. The file must exist, so that other
 * processes stop making it. Ignores a folder that cannot be listed or changed.
 */
export function removeMakings(path: string): void {
  const [folder, prefix] = [dirname(path), `${basename(path)}${UNIQUE_MAKING}`]
  try {
    for (const name of readdirSync(folder)) if (name.startsWith(prefix)) rmSync(join(folder, name))
  } catch {
    // A leftover does no harm.
  }
}

/** Makes a missing folder with its parents. The new names are on the disk when this returns. */
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

/** Makes the name of a directory durable. The root of a mounted file system is skipped. */
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
