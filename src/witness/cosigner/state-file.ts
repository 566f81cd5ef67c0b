import {
  type BigIntStats,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { renameDurably, syncDirectory } from '../../log/store/durable-rename.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { bytes, number, text } from '../../log/store/codec.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { isSame } from '../../tlog/hash.ts'
import { parseWhole } from '../../protocol/seq.ts'

/** Error for a state with which a witness must not continue. */
export class CosignerStateError extends Error {
  override readonly name = 'CosignerStateError'
}

const STATE_FILE = 'witness.db'
const STATE_VERSION = 1
const OWNER_ONLY = 0o600

/**
 * Tables of the state. `logs` has the newest cosigned checkpoint of each origin. `forgotten` has checkpoints that our
 * own cosignatures prove and `logs` lacks. Triggers ensure that nothing goes back.
 */
const TABLES = `
CREATE TABLE file (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  inode TEXT NOT NULL, born TEXT NOT NULL, commits INTEGER NOT NULL
) STRICT;
CREATE TABLE logs (
  origin TEXT PRIMARY KEY, size INTEGER NOT NULL CHECK (size >= 0), root BLOB NOT NULL CHECK (length(root) = 32),
  text TEXT NOT NULL, log_lines TEXT NOT NULL, lines TEXT NOT NULL, time INTEGER NOT NULL
) STRICT;
CREATE TABLE forgotten (
  origin TEXT PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL,
  text TEXT NOT NULL, log_lines TEXT NOT NULL, lines TEXT NOT NULL, time INTEGER NOT NULL
) STRICT;
CREATE TRIGGER logs_forward BEFORE UPDATE ON logs
WHEN NEW.origin <> OLD.origin OR NEW.size < OLD.size OR NEW.time < OLD.time
  OR (NEW.size = OLD.size AND NEW.root <> OLD.root)
BEGIN SELECT RAISE(ABORT, 'the state of a witness never goes back'); END;
CREATE TRIGGER logs_kept BEFORE DELETE ON logs
BEGIN SELECT RAISE(ABORT, 'the state of a witness never goes back'); END;
CREATE TRIGGER file_forward BEFORE UPDATE OF commits ON file WHEN NEW.commits <> OLD.commits + 1
BEGIN SELECT RAISE(ABORT, 'each commit of a witness counts one'); END;`

/** The open file of a state, and the number of its commits. */
export type StateFile = Disposable &
  Readonly<{
    db: DatabaseSync
    /**
     * Runs a change in a transaction, and counts it. When this returns, transaction and mark are on the disk. A change
     * that returns false has changed nothing. Throws disk errors. The state may then have changed without its mark, and
     * the next call writes the mark first.
     */
    commit(change: () => boolean): boolean
    /** Makes the mark of the last commit durable, if it is not yet. */
    settle(): void
    /** Whether the state was a copy and was adopted. */
    isTakenOver: boolean
  }>

/** Whether a directory holds the state of a witness. An empty file, as left by a copy to a full disk, is none. */
export function hasCosignerState(dataDirectory: string): boolean {
  return (statSync(join(dataDirectory, STATE_FILE), { throwIfNoEntry: false })?.size ?? 0) > 0
}

/**
 * Opens the state of a witness, or creates an empty one. Throws a `CosignerStateError` for a state that is damaged, or
 * was copied or restored. With `acceptCopy` a copy is adopted, unless its mark proves that a newer state existed.
 */
export function openStateFile(dataDirectory: string, acceptCopy: boolean): StateFile {
  mkdirSync(dataDirectory, { recursive: true })
  const path = join(dataDirectory, STATE_FILE)
  writeFileSync(path, '', { flag: 'a', mode: OWNER_ONLY })
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA')
    if (versionOf(db) === 0) make(db, path)
    else if (versionOf(db) !== STATE_VERSION) throw refused(dataDirectory, 'is of another version of Daybook')
    const damage = damageOf(db, TABLES)
    if (damage !== null) throw refused(dataDirectory, `is damaged: ${damage}. ${DAMAGED}`)
    const { commits, ...written } = readFileRow(db)
    const found = readMark(dataDirectory)
    if (found === undefined) throw refused(dataDirectory, 'has a mark that is not well formed')
    const mark = found?.commits ?? null
    if (mark !== null && mark > commits) throw refused(dataDirectory, OLDER)
    const here = stateIdentity(path)
    // A copy over the old files keeps the inode of the state, and puts an older mark into a newer file.
    const isMoved = !isSameFile(written, here) || found?.isOwn === false
    // A crash between a commit and its mark leaves at most one commit without a mark.
    const isUnmarked = commits > (mark ?? 0) + (mark === null ? 0 : 1)
    if ((isMoved || isUnmarked) && !acceptCopy) throw refused(dataDirectory, isMoved ? COPIED : UNMARKED)
    const isTakenOver = isMoved || isUnmarked
    const file = opened(dataDirectory, db, { marked: mark ?? -1, isTakenOver })
    if (isTakenOver) file.commit(() => takeOver(db, here))
    else file.settle()
    return file
  } catch (error) {
    db.close()
    throw error
  }
}

function opened(
  dataDirectory: string,
  db: DatabaseSync,
  { isTakenOver, ...mark }: Readonly<{ marked: number; isTakenOver: boolean }>,
): StateFile {
  let { marked } = mark
  const commits = db.prepare('SELECT commits FROM file')
  const count = db.prepare('UPDATE file SET commits = commits + 1')
  function settle(): void {
    const committed = Number(commits.get()?.['commits'])
    if (marked === committed) return
    writeMark(dataDirectory, committed)
    marked = committed
  }
  return {
    db,
    isTakenOver,
    settle,
    commit(change) {
      // At most one commit is ever without its mark.
      settle()
      const isDone = inTransaction(db, () => {
        const isChanged = change()
        if (isChanged) count.run()
        return isChanged
      })
      settle()
      return isDone
    },
    [Symbol.dispose]: () => db.close(),
  }
}

const DAMAGED = 'It must not be used: make new keys and a new state'
const OLDER =
  'is older than the mark beside it: it was restored from a backup, and must not be used. Make new keys and a new state'
const COPIED =
  'is a copy, or was restored from a backup: the file is not the one that the witness wrote. Only if it is the newest state, and nothing else cosigns with its keys any more, start once with --accept-copy. Otherwise make new keys and a new state'
const UNMARKED =
  'has lost the mark beside it. Only if it is the newest state, and nothing else cosigns with its keys any more, start once with --accept-copy. Otherwise make new keys and a new state'

function refused(dataDirectory: string, why: string): CosignerStateError {
  return new CosignerStateError(`the state of the witness in ${dataDirectory} ${why}`)
}

function stateIdentity(path: string): FileIdentity {
  return identityOf(statSync(path, { bigint: true }))
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
}

function make(db: DatabaseSync, path: string): void {
  inTransaction(db, () => {
    db.exec(`${TABLES} PRAGMA user_version = ${STATE_VERSION}`)
    const { inode, born } = stateIdentity(path)
    db.prepare('INSERT INTO file (only, inode, born, commits) VALUES (1, ?, ?, 0)').run(inode, born)
  })
  syncDirectory(dirname(dirname(path)))
}

function takeOver(db: DatabaseSync, { inode, born }: FileIdentity): boolean {
  db.prepare('UPDATE file SET inode = ?, born = ?').run(inode, born)
  return true
}

function readFileRow(db: DatabaseSync): FileIdentity & Readonly<{ commits: number }> {
  const { inode, born, commits } = db.prepare('SELECT inode, born, commits FROM file').get() ?? {}
  return { inode: String(inode), born: String(born), commits: Number(commits) }
}

type Row = Parameters<typeof text>[0]

/**
 * Damage of a witness's state; null when there is none. `tables` is the SQL that created the state. The origin, size
 * and root of each cosigned checkpoint are also in its text, and its time is in the cosignatures. They must agree, so
 * that no damage makes the witness forget a tree. Damaged signatures are found by those who verify them. Throws SQLite
 * errors.
 */
function damageOf(db: DatabaseSync, tables: string): string | null {
  if (db.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check'] !== 'ok')
    return 'its pages do not fit together'
  using own = new DatabaseSync(':memory:')
  own.exec(tables)
  if (schemaOf(db) !== schemaOf(own)) return 'its tables are not those of a witness'
  for (const table of ['logs', 'forgotten'])
    for (const row of db.prepare(`SELECT origin, size, root, text, lines, time FROM ${table}`).all())
      if (!isWhole(row)) return 'a cosigned checkpoint differs from its text or its cosignatures'
  return null
}

function schemaOf(db: DatabaseSync): string {
  const rows = db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all()
  return JSON.stringify(rows)
}

/** Whether a row fits its text and its cosignatures, none of which may be newer than the row. */
function isWhole(row: Row): boolean {
  const read = readCheckpoint(Buffer.from(`${text(row, 'text')}\n${text(row, 'lines')}`))
  if (!read.ok) return false
  const { checkpoint, note } = read.value
  const { origin, size, root } = checkpoint
  const isNamed = origin === text(row, 'origin') && size === number(row, 'size')
  const times = note.signatures.map(({ signature }) => timeOf(signature))
  return isNamed && isSame(root, bytes(row, 'root')) && times.every((time) => time <= number(row, 'time'))
}

/** Time in whole seconds at the start of a cosignature of any type (C2SP tlog-cosignature). */
function timeOf(signature: Uint8Array): bigint {
  if (signature.length < 8) return 0n
  return new DataView(signature.buffer, signature.byteOffset).getBigUint64(0)
}

/** File beside the state of a witness with its number of commits, by which a start detects an older state. */
const MARK_FILE = 'witness-mark'
const MARK = /^commits ([0-9]+)\nfile ([0-9]+) (-?[0-9]+)\n$/

/** Number of commits. `isOwn` is false for a mark that was copied into another file than the witness's own. */
type CommitMark = Readonly<{ commits: number; isOwn: boolean }>

/** Reads the mark; null without a file, undefined when the file holds no mark. */
export function readMark(dataDirectory: string): CommitMark | null | undefined {
  let file: number
  try {
    file = openSync(join(dataDirectory, MARK_FILE), 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  try {
    const [, decimal = '', inode = '', born = ''] = MARK.exec(readFileSync(file, 'latin1')) ?? []
    const commits = parseWhole(decimal)
    if (commits === undefined) return undefined
    return { commits, isOwn: isSameFile({ inode, born }, fileOf(file)) }
  } finally {
    closeSync(file)
  }
}

/**
 * Writes the number of commits, and returns when it is on the disk. Each mark is a new file with its own identity
 * inside, so that copying an older one over it is detected.
 */
export function writeMark(dataDirectory: string, commits: number): void {
  const path = join(dataDirectory, MARK_FILE)
  const making = `${path}.making`
  const file = openSync(making, 'w', OWNER_ONLY)
  try {
    const { inode, born } = fileOf(file)
    writeSync(file, `commits ${commits}\nfile ${inode} ${born}\n`)
  } finally {
    closeSync(file)
  }
  renameDurably(making, path)
}

function fileOf(file: number): FileIdentity {
  return identityOf(fstatSync(file, { bigint: true }))
}

/**
 * Inode number and birth time of a file, which a copy does not share. A file system without birth times gives 0; then
 * only the inode counts.
 */
type FileIdentity = Readonly<{ inode: string; born: string }>

function identityOf({ ino, birthtimeNs }: Pick<BigIntStats, 'ino' | 'birthtimeNs'>): FileIdentity {
  return { inode: String(ino), born: String(birthtimeNs) }
}

function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.inode === other.inode && one.born === other.born
}
