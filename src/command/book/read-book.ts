import type { DatabaseSync } from 'node:sqlite'
import { isOfSqlite } from '../../log/store/sqlite-error.ts'
import { type Checkpoint, readCheckpoint } from '../../tlog/checkpoint.ts'
import { rootOf } from '../../tlog/frontier.ts'
import { type Hash, treeHasher } from '../../tlog/hash.ts'
import { formatUtf8 } from '../../tlog/note.ts'
import { CommandError } from '../terminal/command-error.ts'
import { NODE_PRIMITIVES } from '../terminal/node-primitives.ts'
import { shellQuoted } from '../terminal/output.ts'
import { factOf, openExistingBook, withBookErrors } from './book-file.ts'
import { readState } from './book-state.ts'

/** An existing book before a run: its log, and the tree over all its rows. */
export type ReadBook = Readonly<{
  log: string
  origin: string
  /** Verifier keys, separated by line feeds. */
  keys: string
  /** Signed checkpoint of its newest end; null until a run has ended. */
  kept: Readonly<{ note: Uint8Array; checkpoint: Checkpoint }> | null
  size: number
  root: Hash
}>

/** Reads what a run continues; null without a book. Changes nothing. */
export function readBook(path: string): ReadBook | null {
  using db = openExistingBook(path)
  if (db === null) return null
  return withBookErrors(path, () => {
    const { frontier } = readWholeState(db, path)
    const note = formatUtf8(factOf(db, 'checkpoint') ?? '')
    const read = readCheckpoint(note)
    return {
      log: factOf(db, 'log') ?? '',
      origin: factOf(db, 'origin') ?? '',
      keys: factOf(db, 'keys') ?? '',
      kept: read.ok ? { note, checkpoint: read.value.checkpoint } : null,
      size: frontier.size,
      root: rootOf(treeHasher(NODE_PRIMITIVES.sha256), frontier),
    }
  })
}

/** The state of a book. Throws a `CommandError` for one that this program did not write. */
function readWholeState(db: DatabaseSync, path: string): ReturnType<typeof readState> {
  try {
    return readState(db)
  } catch (cause) {
    if (isOfSqlite(cause)) throw cause
    throw new CommandError(`--to: ${shellQuoted(path)} is damaged: pull into a new file`, { cause })
  }
}
