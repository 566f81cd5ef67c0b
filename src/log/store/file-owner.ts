import { closeSync, constants, fchmodSync, fchownSync, fstatSync, openSync, statSync } from 'node:fs'

const MODE_BITS = 0o777

/**
 * Error codes when this process may not change an owner or a mode, or when the file system or container lacks the
 * owner.
 */
const REFUSED: ReadonlySet<unknown> = new Set(['EPERM', 'EINVAL', 'ENOSYS', 'ENOTSUP'])

/**
 * Gives an open file the owner and group of another file or folder, if this process may (root may). Without it, the
 * service could not use files that root's commands made, because it runs as another user.
 */
export function giveOwner(file: number, like: string): void {
  const { uid, gid } = statSync(like)
  const present = fstatSync(file)
  if (present.uid !== uid || present.gid !== gid) ifAllowed(() => fchownSync(file, uid, gid))
}

/**
 * Gives a file the owner, group and mode of another one. No SQLite connection of this process may be open on the file,
 * because its locks would end.
 */
export function giveOwnerAndMode(path: string, like: string): void {
  // The owner of the folder may put a link in its place.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    const mode = statSync(like).mode & MODE_BITS
    if ((fstatSync(file).mode & MODE_BITS) !== mode) ifAllowed(() => fchmodSync(file, mode))
    giveOwner(file, like)
  } finally {
    closeSync(file)
  }
}

function ifAllowed(change: () => void): void {
  try {
    change()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && REFUSED.has(error.code))) throw error
  }
}
