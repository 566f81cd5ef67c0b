import type { DatabaseSync } from 'node:sqlite'
import type { Appender } from '../../log/append.ts'
import { readIdentity, StoreError } from '../../log/store/store.ts'
import { newestCheckpoint, signNewest, storedSignature } from '../../log/tree/ready-log.ts'
import { isMadeWith, type SigningKey, verifierKeyOf } from '../../log/tree/signer.ts'
import { assert } from '../../protocol/brand.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import type { CommitRoom } from '../../publish/commit-path.ts'
import type { HeldDrafts } from '../../publish/held-drafts.ts'
import {
  type CommitRow,
  followsOther,
  type LogRow,
  refusalOfRow,
  ROW_VERSION,
  type RowBody,
  type RowPlace,
} from '../row/log-row.ts'
import { decodeRow, digestOfRow, encodeRow } from '../row/row-frame.ts'
import { openRowKeys, type RowKeys } from '../row/row-keys.ts'
import { LOOK_ROWS_MAX, type TableRow } from '../table/log-table.ts'
import { UnfitRow } from './followed-row.ts'
import { type GatheredLog, openGatheredLog } from './gathered-log.ts'
import { rowRoom } from './row-room.ts'
import { applyStepRow, rowOfStep, type RowStep, type StepRow } from './row-step.ts'
import { openKeptRows, readTablePlace, writeTablePlace } from '../row/kept-rows.ts'
import { base64 } from '@scure/base'
import { text } from '../../log/store/codec.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import { type NewestRow, type NodeBook, RowFault } from '../node/cluster-node.ts'

type TableBookSettings = Readonly<{
  /** The writing connection to the store, whose log is on a table. */
  db: DatabaseSync
  /** Keys that sign the log: all that it lists as signing now. */
  keys: readonly SigningKey[]
  /** Whether drafts with a transaction wait for the chain (`--finality`). All nodes must agree. */
  asksChain: boolean
}>

/** Book of a store, with the log and the held drafts on which a commit is built. */
export type TableBook = NodeBook &
  Readonly<{
    /** Appender of the log. `begin`, `commit` and `rollback` of the book replace its own. */
    appender: Appender
    held: HeldDrafts
    /** Limits of the row that is built. */
    room: CommitRoom
    /** Builds an operator's step instead of a commit, between `begin` and `row`. Throws a StoreError. */
    build(step: RowStep): void
    /** Signed note of the committed log, even while a row is built. */
    checkpoint(): string
    /** Keys that sign the log now. */
    keys(): RowKeys
  }>

/** Opens the book of a store. Throws a StoreError when its log is on no table, or a signing key is missing. */
export function openTableBook(settings: TableBookSettings): TableBook {
  const parts = openParts(settings)
  const { rows, standIn, log, keys, follow } = parts
  /** Operator's step that is being built, and the row of all that is built. */
  let step: StepRow | null = null
  let built: Uint8Array | null = null
  let isUnchanged = false

  function begin(): void {
    isUnchanged = false
    log.appender.begin()
    standIn.remove()
  }

  function end(): void {
    rows.write()
    log.commit()
    step = built = null
  }

  function rollback(): void {
    step = built = null
    parts.rollback(isUnchanged)
  }

  return {
    ...passedOn(log),
    keys,
    applied: rows.newest,
    isEnded: rows.isEnded,
    kept: rows.kept,
    begin() {
      assert(!rows.isEnded(), 'nothing is built after the last row of a log')
      begin()
    },
    rollback,
    room: rowRoom(log.gathered.bytesLeft, log.gathered.reserve),
    checkpoint: committedNote(settings.db, log),
    build: (operatorStep) =>
      void (step = rowOfStep(settings.db, operatorStep, settings.keys, parts.present())),
    row() {
      built = encodeBuilt(parts, step)
      isUnchanged = built === null
      return built
    },
    commit(bytes) {
      assert(built !== null && Buffer.compare(built, bytes) === 0, 'what was built is committed')
      if (step === null) log.accept()
      else follow(step)
      rows.note(bytes, step?.is ?? 'commit')
      end()
    },
    apply(next) {
      assert(next.length <= LOOK_ROWS_MAX, `${next.length} rows are applied at once`)
      try {
        begin()
        applyEach(parts, next)
        standIn.put(keys().signing)
        end()
      } catch (error) {
        rollback()
        rethrow(next.at(-1)?.place ?? rows.newest().place, error)
      }
    },
  }
}

/** Parts of the log that its book passes on. */
function passedOn({ appender, held }: GatheredLog): Pick<TableBook, 'appender' | 'held'> {
  return { appender, held }
}

/** Applies rows in order. Throws the fault of the first bad one. */
function applyEach({ apply }: BookParts, rows: readonly TableRow[]): void {
  for (const { place, bytes } of rows) {
    try {
      apply(place, bytes)
    } catch (error) {
      rethrow(place, error)
    }
  }
}

/** Throws a disk fault unchanged, and any other as a fault of the row at a place. */
function rethrow(place: number, error: unknown): never {
  if (isOfDisk(error) || error instanceof RowFault) throw error
  throw error instanceof UnfitRow
    ? new RowFault(place, error.message, error.isOfOtherBranch)
    : new RowFault(place, error instanceof StoreError ? error.message : reasonOf(error))
}

/** Opens the signed note of the committed log. Events of an open transaction have no signature. */
function committedNote(db: DatabaseSync, log: Pick<GatheredLog, 'checkpoint'>): () => string {
  let note = ''
  return () => {
    if (!db.isTransaction) note = log.checkpoint() ?? newestCheckpoint(db).checkpoint
    return note
  }
}

/** Parts of a book. Their changes belong to the transaction that the book opens. */
type BookParts = Readonly<{
  rows: BookRows
  standIn: StandIn
  log: GatheredLog
  keys(): RowKeys
  /** Size and root of the log for an operator's step. */
  present(): Readonly<{ head: number; root: Uint8Array }>
  /** Applies the content of an accepted row. Throws an `UnfitRow`. */
  follow(body: CommitRow | StepRow): void
  /** Applies the row at a place, and records it. Throws an `UnfitRow`. */
  apply(place: number, bytes: Uint8Array): void
  /** Undoes the transaction, in which nothing may have changed. */
  rollback(isUnchanged: boolean): void
}>

function openParts({ db, keys: own, asksChain }: TableBookSettings): BookParts {
  const rows = openBookRows(db)
  const standIn = openStandIn(db)
  let keys = openRowKeys(db, own)
  const log = openGatheredLog(db, () => keys.signer, asksChain)
  const present: BookParts['present'] = () => ({ head: log.head(), root: log.root() })

  function follow(body: CommitRow | StepRow): void {
    if (body.is === 'commit') return log.follow(body)
    applyStepRow(db, body, present())
    if (body.is !== 'keys') return
    keys = openRowKeys(db, own)
    signNewest(db, keys.signing)
    log.resign()
  }

  return {
    rows,
    standIn,
    log,
    keys: () => keys,
    present,
    follow,
    apply(place, bytes) {
      const decoded = decodeRow(bytes)
      if (!decoded.ok) throw new UnfitRow(decoded.reason)
      const { row } = decoded.signed
      const foreign = keys.refusalOf(decoded.signed)
      const refusal = rows.refusalOf(row, place) ?? foreign
      if (refusal !== null) throw new UnfitRow(refusal, foreign === null && followsOther(row, rows.next()))
      // The first row makes the store, so that no book is open before it.
      if (row.is === 'begin') throw new UnfitRow('it begins the log again')
      follow(row)
      rows.note(bytes, row.is)
    },
    rollback(isUnchanged) {
      if (isUnchanged) log.leave()
      else {
        log.rollback()
        rows.rollback()
        keys = openRowKeys(db, own)
      }
      standIn.reload()
    },
  }
}

/** Bytes of the built row; null when nothing changed. */
function encodeBuilt({ log, rows, keys }: BookParts, step: StepRow | null): Uint8Array | null {
  const body = bodyOf(log, step)
  if (body === null) return null
  // A change of keys is built, but not applied yet, so that a former key signs it.
  const [key] = keys().signing
  assert(key !== undefined, 'a key signs the log')
  return encodeRow({ ...rows.next(), ...body }, key)
}

/** Content of the built row; null when nothing changed. */
function bodyOf({ gathered, head, root }: GatheredLog, step: StepRow | null): CommitRow | StepRow | null {
  const commit = gathered.commit()
  assert(commit === null || step === null, 'a step of the operator has a row of its own')
  if (commit === null) return step
  return { is: 'commit', first: head() - commit.lines.length + 1, root: root(), ...commit, moved: null }
}

const SQLITE_CONSTRAINT = 19

/** Whether an error comes from SQLite and its disk. A row that contradicts another is the row's fault. */
function isOfDisk(error: unknown): boolean {
  if (!(error instanceof Error && 'errcode' in error)) return false
  return (Number(error.errcode) & 0xff) !== SQLITE_CONSTRAINT
}

/** Rows of a store: its newest one, and the kept ones. Changes belong to the caller's transaction. */
type BookRows = Readonly<{
  newest(): NewestRow
  kept(from: number): readonly TableRow[]
  /** Whether the newest row is the last one of its log. */
  isEnded(): boolean
  /** The place of the next row. */
  next(): RowPlace
  /** Reason why the table's row at a place is not the next one of this log; null when it is. */
  refusalOf(row: LogRow, place: number): string | null
  /** Records the next row. */
  note(bytes: Uint8Array, is: RowBody['is']): void
  /** Writes the place of the newest row. */
  write(): void
  /** Undoes the changes since the last commit. */
  rollback(): void
}>

/** Opens the rows of a store. Throws a StoreError when its log is on no table. */
function openBookRows(db: DatabaseSync): BookRows {
  const { id: logId } = readIdentity(db)
  const kept = openKeptRows(db)
  let newest = placeOf(db)
  let isEnded = isEndKept(kept.from(newest.place))

  const next = (): RowPlace => {
    const { place, digest } = newest
    return { v: ROW_VERSION, logId, place: place + 1, prev: digest }
  }

  return {
    newest: () => newest,
    kept: kept.from,
    isEnded: () => isEnded,
    next,
    refusalOf(row, place) {
      if (isEnded) return 'it follows the last row of the log, which has left the table'
      return refusalOfRow(row, place, next())
    },
    note(bytes, is) {
      const { place } = next()
      kept.add({ place, bytes })
      newest = { place, digest: digestOfRow(bytes) }
      isEnded = is === 'end'
    },
    write: () => writeTablePlace(db, newest),
    rollback() {
      kept.reload()
      newest = placeOf(db)
      isEnded = isEndKept(kept.from(newest.place))
    },
  }
}

function isEndKept([newest]: readonly TableRow[]): boolean {
  const decoded = newest === undefined ? null : decodeRow(newest.bytes)
  return decoded?.ok === true && decoded.signed.row.is === 'end'
}

function placeOf(db: DatabaseSync): NewestRow {
  const newest = readTablePlace(db)
  if (newest === null)
    throw new StoreError('the log of this store is on no table: move it with daybook cluster move')
  return newest
}

/**
 * Temporary signature of the newest tree while the store ends inside moved history. The log has no signature there, or
 * one of a former key. Readers, audits and a start need a signed tree at the end of every store. The next transaction
 * restores the log's signature. The tree may be signed, because the table has accepted it and it is a prefix of the
 * log.
 */
type StandIn = Readonly<{
  /** Signs the newest tree, unless these keys have signed it. */
  put(keys: readonly SigningKey[]): void
  /** Restores the log's signature. Begins a transaction if it changes anything. */
  remove(): void
  /** Reads again, after a rollback. */
  reload(): void
}>

/** Row of `meta` with the log's seq and signature there (base64, empty for none). */
const ROW = 'moved_signature'
const FORM = /^([1-9]\d{0,15}) ([A-Za-z0-9+/=]*)$/

/** The signature that the log has at a seq. */
type Replaced = Readonly<{ seq: number; signature: Uint8Array | null }>

/** Opens the signature of a store. Its changes belong to the caller's transaction. */
function openStandIn(db: DatabaseSync): StandIn {
  const update = db.prepare('UPDATE events SET signature = ? WHERE seq = ?')
  const { origin } = readIdentity(db)
  let replaced = readReplaced(db)

  return {
    put(keys) {
      const seq = headOf(db)
      if (seq === 0) return
      const stored = storedSignature(db, seq)
      const signature = stored instanceof Uint8Array ? stored : null
      const own = keys.map(({ publicKey }) => verifierKeyOf(origin, publicKey))
      if (signature !== null && isMadeWith(signature, own)) return
      replaced = { seq, signature }
      const value = `${seq} ${signature === null ? '' : base64.encode(signature)}`
      db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(ROW, value)
      signNewest(db, keys)
    },
    remove() {
      if (replaced === null) return
      update.run(replaced.signature, replaced.seq)
      db.prepare('DELETE FROM meta WHERE key = ?').run(ROW)
      replaced = null
    },
    reload: () => void (replaced = readReplaced(db)),
  }
}

function readReplaced(db: DatabaseSync): Replaced | null {
  const row = db.prepare('SELECT value FROM meta WHERE key = ?').get(ROW)
  if (row === undefined) return null
  const [, seq, signature] = FORM.exec(text(row, 'value')) ?? []
  if (seq === undefined || signature === undefined)
    throw new StoreError(`the row ${ROW} of the store is damaged: restore the newest backup`)
  return { seq: Number(seq), signature: signature === '' ? null : base64.decode(signature) }
}
