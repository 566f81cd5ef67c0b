import { existsSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { isBusy, isFull, isOfSqlite, primaryCodeOf } from '../../log/store/sqlite-error.ts'
import { errorMessage } from '../../protocol/error-reason.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { checkFile } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import { BOOK_APPLICATION_ID, BOOK_FORM, BOOK_SCHEMA } from './book-schema.ts'
import type { BookTable } from './book-tables.ts'

/** Facts about a book, in its table `book`. */
type BookFacts = Readonly<{
  /** Id of the log. */
  log: string
  /** Name of the log in its checkpoints. */
  origin: string
  /** Verifier keys that follow from the trusted one, separated by line feeds. */
  keys: string
  /** Signed note whose root is the root over all rows. Absent until a run has ended. */
  checkpoint: string
  /** Address that the book was pulled from. */
  url: string
  /** 1 when the platform is a simulated one. */
  simulated: string
}>

/**
 * A book that is open for writing, in a transaction that ends only to begin the next one. Disposal undoes what is not
 * committed, and removes a new file without a commit.
 */
export type OpenBook = Disposable &
  Readonly<{
    db: DatabaseSync
    fact(name: keyof BookFacts): string | null
    setFacts(facts: Partial<BookFacts>): void
    /** Commits everything, and begins the next transaction immediately: no other writer comes between. */
    commit(): void
    /** Commits everything for the last time. False while another program keeps it in a second file, `-wal`. */
    finish(): boolean
  }>

/** Longest wait for another program's lock, in milliseconds. */
const LOCK_MS_MAX = 250
/** Pages of the cache while the log is read, in KiB. */
const CACHE_KIB = 64 * 1024

/** Whether a value of `--to` names a book: a file of SQLite by the end of its name. */
export function isBookPath(path: string): boolean {
  return /\.(?:sqlite3?|db)$/i.test(path)
}

/** Opens an existing book for reading; null when there is none yet. Changes no row. */
export function openExistingBook(path: string): DatabaseSync | null {
  checkFile(path, '--to')
  if (!existsSync(path) || statSync(path).size === 0) return null
  return withBookErrors(path, () => {
    const db = openDatabase(path)
    try {
      if (!isEmpty(db, path)) return db
      db.close()
      return null
    } catch (error) {
      db.close()
      throw error
    }
  })
}

/** Opens a book for writing, and makes its tables when it is new. */
export function openBook(path: string): OpenBook {
  const isNew = !existsSync(path)
  return withBookErrors(path, () => {
    const db = openDatabase(path)
    let isKept = !isNew
    const close = (): void => {
      try {
        if (db.isTransaction) db.exec('ROLLBACK')
        leaveWal(db)
      } catch (error) {
        // The error of the work itself is reported. Another run recovers the file.
        if (!isOfSqlite(error)) throw error
      } finally {
        db.close()
      }
      if (!isKept) rmSync(path, { force: true })
    }
    try {
      db.exec(`PRAGMA cache_size = -${CACHE_KIB}`)
      // Readers see the last commit while the next one is written.
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE')
      if (isEmpty(db, path)) for (const statement of BOOK_SCHEMA) db.exec(statement)
      const set = db.prepare('INSERT OR REPLACE INTO book (name, value) VALUES (?, ?)')
      return {
        db,
        fact: (name) => factOf(db, name),
        setFacts(facts) {
          for (const [name, value] of Object.entries(facts)) set.run(name, value)
        },
        commit() {
          db.exec('COMMIT; BEGIN IMMEDIATE')
          isKept = true
        },
        finish() {
          db.exec('COMMIT')
          isKept = true
          return leaveWal(db)
        },
        [Symbol.dispose]: close,
      }
    } catch (error) {
      close()
      throw error
    }
  })
}

/** Makes a book one file that can be copied. False while another program has it open. */
function leaveWal(db: DatabaseSync): boolean {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE')
    return true
  } catch (error) {
    if (!isBusy(error)) throw error
    return false
  }
}

/** A fact of the table `book`; null without one. */
export function factOf(db: DatabaseSync, name: keyof BookFacts): string | null {
  const value = db.prepare('SELECT value FROM book WHERE name = ?').get(name)?.['value']
  return typeof value === 'string' ? value : null
}

/** Opens for writing also to read, because a file that a killed run left must be recovered first. */
function openDatabase(path: string): DatabaseSync {
  return new DatabaseSync(path, { timeout: LOCK_MS_MAX })
}

/** Whether a database has no tables yet. Throws a `UsageError` for a database that is no book of this form. */
function isEmpty(db: DatabaseSync, path: string): boolean {
  const application = pragma(db, 'application_id')
  const form = pragma(db, 'user_version')
  if (application === 0 && db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined) return true
  const refused = (what: string): UsageError => new UsageError(`${shellQuoted(path)} ${what}`)
  if (application !== BOOK_APPLICATION_ID)
    throw refused('is a database of something else, and stays as it is; give the name of a new file')
  if (form > BOOK_FORM)
    throw refused(`has form ${form} of a book, and this program knows form ${BOOK_FORM}: install a newer one`)
  if (form < BOOK_FORM)
    throw refused(
      `has form ${form} of a book, and this program writes form ${BOOK_FORM}: pull into a new file`,
    )
  return false
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
}

/** Reasons of SQLite by primary result code, with what the user can do. */
const REASONS: Readonly<Record<number, string>> = {
  3: 'may not be used: permission denied',
  8: 'cannot be written: the file or its folder is read-only',
  11: 'is damaged: pull into a new file',
  14: 'cannot be opened: its folder may be read-only',
  26: 'is no SQLite file, and stays as it is; give the name of a new file',
}
/** Code of a damaged file, which is no mistake of the user. */
const CORRUPT = 11

/** Runs `work` on the file of a book. Errors of SQLite become errors of the command. */
export function withBookErrors<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw asBookError(error, path)
  }
}

/** `CommandError` for an error of SQLite on the file of a book; any other error is returned unchanged. */
export function asBookError(error: unknown, path: string): unknown {
  if (!isOfSqlite(error)) return error
  const place = shellQuoted(path)
  if (isBusy(error))
    return new CommandError(
      `${place} is in use by another program, such as a second pull: let it end first`,
      {
        cause: error,
      },
    )
  if (isFull(error))
    return new CommandError(`${place}: the disk is full: make room and repeat the command, which continues`, {
      cause: error,
    })
  const code = primaryCodeOf(error) ?? 0
  const reason = REASONS[code]
  const Kind = reason === undefined || code === CORRUPT ? CommandError : UsageError
  return new Kind(`${place} ${reason ?? `cannot be used: ${errorMessage(error)}`}`, { cause: error })
}

/** Opens the statement that writes a row of a table, with its values in the order of the columns. */
export function openInsert(
  db: DatabaseSync,
  { name, columns }: BookTable,
): (values: readonly SQLInputValue[]) => void {
  const marks = columns.map(() => '?').join(', ')
  const insert = db.prepare(`INSERT OR REPLACE INTO ${name} VALUES (${marks})`)
  return (values) => void insert.run(...values)
}
