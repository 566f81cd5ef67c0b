import { statSync } from 'node:fs'

/**
 * Watches files that this process holds open. A file that is moved away or replaced goes on to be written, and nobody finds
 * by its path what was written. The returned function gives the first path that names another file by now, or none; null
 * while all are in place. A replaced file stays replaced. A path without a file, such as the write-ahead log of a store
 * before its first use, is watched from the moment it has one.
 */
export function watchOpenFiles(paths: readonly string[]): () => string | null {
  const opened = new Map<string, string>()
  let replaced: string | null = null

  function look(): string | null {
    for (const path of paths) {
      const known = opened.get(path)
      const now = fileAt(path, known ?? null)
      if (known === undefined && now !== null) opened.set(path, now)
      if (known !== undefined && known !== now) return path
    }
    return null
  }

  replaced = look()
  return () => (replaced ??= look())
}

/** Device and inode of a file, which no two files have at a time; null without a file. `unknown` when nobody can tell. */
function fileAt(path: string, unknown: string | null): string | null {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? null : `${found.dev}:${found.ino}`
  } catch {
    // A disk that cannot answer at this moment says nothing about the file.
    return unknown
  }
}
