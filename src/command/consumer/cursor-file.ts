import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { asPathError, checkFile, systemReason } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import { CommandError } from '../terminal/world.ts'

/** Cursor of a log: every event up to `seq` has been written. */
type SavedCursor = Readonly<{ log: string; seq: number }>

/** File that keeps a cursor between runs. A crash leaves either the old cursor or the new one. */
type CursorFile = Readonly<{ saved: SavedCursor | null; save(cursor: SavedCursor): void }>

/** Opens the file of `--cursor`, which need not exist. */
export function openCursorFile(path: string): CursorFile {
  checkFile(path, '--cursor')
  return {
    saved: readCursor(path),
    save(cursor) {
      const next = `${path}.next`
      try {
        writeFileSync(next, `${JSON.stringify(cursor)}\n`)
        renameSync(next, path)
      } catch (error) {
        throw asPathError(error, '--cursor')
      }
    },
  }
}

function readCursor(path: string): SavedCursor | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw new CommandError(2, `--cursor: ${shellQuoted(path)} cannot be read: ${systemReason(cause)}`, {
      cause,
    })
  }
  try {
    const { log, seq }: SavedCursor = JSON.parse(text)
    if (typeof log === 'string' && Number.isSafeInteger(seq) && seq >= 0) return { log, seq }
  } catch {
    // Reported below, like any other content.
  }
  throw new CommandError(
    2,
    `--cursor: ${shellQuoted(path)} is not a cursor file; give another path or remove it`,
  )
}
