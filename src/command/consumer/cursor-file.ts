import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { asPathError, checkFile } from '../terminal/given-paths.ts'
import { CommandError } from '../terminal/world.ts'

/** Where a reader stands in which log: everything up to `seq` has been written out. */
type SavedCursor = Readonly<{ log: string; seq: number }>

/** A file that keeps a cursor between runs. It is replaced whole: a crash leaves the old one or the new one. */
type CursorFile = Readonly<{ kept: SavedCursor | null; save(cursor: SavedCursor): void }>

export function openCursorFile(path: string): CursorFile {
  checkFile(path, '--cursor')
  return {
    kept: readCursor(path),
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
    throw new CommandError(2, `the cursor file ${path} cannot be read`, { cause })
  }
  try {
    const { log, seq }: SavedCursor = JSON.parse(text)
    if (typeof log === 'string' && Number.isSafeInteger(seq) && seq >= 0) return { log, seq }
  } catch {
    // Told below, whatever is wrong with it.
  }
  throw new CommandError(2, `${path} is no cursor file`)
}
