import { closeSync, constants, fchmodSync, fchownSync, fstatSync, openSync, statSync } from 'node:fs'

const MODE_BITS = 0o777

/**
 * Gives an open file the owner of another file or folder when this process runs as root. Otherwise the service, which
 * runs as another user, could not use what an operator's command made.
 */
export function giveOwner(file: number, like: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(like)
  const present = fstatSync(file)
  if (present.uid !== uid || present.gid !== gid) fchownSync(file, uid, gid)
}

/** Gives a file the mode of another one too. No connection of SQLite may be open on the file: its locks would end. */
export function giveOwnerAndMode(path: string, like: string): void {
  // The owner of the folder may put a link in its place.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    giveOwner(file, like)
    fchmodSync(file, statSync(like).mode & MODE_BITS)
  } finally {
    closeSync(file)
  }
}
