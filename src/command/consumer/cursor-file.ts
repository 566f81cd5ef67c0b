import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { UsageError } from '../terminal/command-error.ts'
import { asPathError, checkFile, systemReason } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'

/** Cursor of a log: every event up to `seq` has been written. */
type SavedCursor = Readonly<{ log: string; seq: number }>

/**
 * File that keeps a cursor between runs. After a crash or a power cut it has an old cursor or the new one, never a
 * part. Disposing of it saves the last cursor.
 */
type CursorFile = Disposable &
  Readonly<{
    saved: SavedCursor | null
    /** Saves a cursor. During steady progress (`isFollowed`) it saves at most once a second. */
    save(cursor: SavedCursor, isFollowed: boolean): void
  }>

/** Least time between two saves during steady progress, because each waits for the disk. */
const SAVE_MS = 1_000

/** Opens the file of `--cursor`, which need not exist. */
export function openCursorFile(path: string, monotonicMs: () => number): CursorFile {
  checkFile(path, '--cursor')
  let dueMs = -Infinity
  let kept: SavedCursor | null = null
  function write(cursor: SavedCursor): void {
    kept = null
    dueMs = monotonicMs() + SAVE_MS
    const next = `${path}.next`
    try {
      // On the disk before the rename, because a power cut may keep the new name without the bytes.
      writeFileSync(next, `${JSON.stringify(cursor)}\n`, { flush: true })
      renameSync(next, path)
    } catch (error) {
      throw asPathError(error, '--cursor')
    }
  }
  return {
    saved: readCursor(path),
    save(cursor, isFollowed) {
      if (isFollowed && monotonicMs() < dueMs) kept = cursor
      else write(cursor)
    },
    [Symbol.dispose]() {
      if (kept !== null) write(kept)
    },
  }
}

function readCursor(path: string): SavedCursor | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw new UsageError(`--cursor: ${shellQuoted(path)} cannot be read: ${systemReason(cause)}`, {
      cause,
    })
  }
  try {
    const { log, seq }: SavedCursor = JSON.parse(text)
    if (typeof log === 'string' && Number.isSafeInteger(seq) && seq >= 0) return { log, seq }
  } catch {
    // Reported below, like any other content.
  }
  throw new UsageError(`--cursor: ${shellQuoted(path)} is not a cursor file; give another path or remove it`)
}
