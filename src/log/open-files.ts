import { statSync } from 'node:fs'

type OpenFile = Readonly<{ id: string; bytes: bigint }>

/**
 * Watches files that this process holds open. A file that is moved away or replaced goes on to be written, and nobody finds
 * by its path what was written. The returned function gives the first path that names another file by now, or none; null
 * while all are in place. A replaced file stays replaced. A path without a file, such as the write-ahead log of a store
 * before its first use, is watched from the moment it has one. The file of the `growing` path never gets smaller: one that
 * does was overwritten in place, as `cp` does.
 */
export function watchOpenFiles(paths: readonly string[], growing: string): () => string | null {
  const opened = new Map<string, OpenFile>()
  let replaced: string | null = null

  function look(): string | null {
    for (const path of paths) {
      const known = opened.get(path)
      const now = fileAt(path, known ?? null)
      if (known !== undefined && known.id !== now?.id) return path
      if (known !== undefined && path === growing && now !== null && now.bytes < known.bytes) return path
      if (now !== null) opened.set(path, now)
    }
    return null
  }

  replaced = look()
  return () => (replaced ??= look())
}

/** The file at a path; its id is device and inode, which no two files have at a time. `unknown` when nobody can tell. */
function fileAt(path: string, unknown: OpenFile | null): OpenFile | null {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? null : { id: `${found.dev}:${found.ino}`, bytes: found.size }
  } catch {
    // A disk that cannot answer at this moment says nothing about the file.
    return unknown
  }
}
