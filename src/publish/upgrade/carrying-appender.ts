import type { DatabaseSync } from 'node:sqlite'
import { type Appender, openAppender } from '../../log/append.ts'
import { segmentsOf } from '../../log/archive/stored-segments.ts'
import { entryOfRow } from '../../log/books/shelf.ts'
import { bytes, number, type Row } from '../../log/store/codec.ts'
import { StoreError } from '../../log/store/store.ts'
import { openTreeWriter } from '../../log/tree/tree-writer.ts'
import type { Fold } from '../../project/fold/fold.ts'
import type { Entry } from '../../protocol/event.ts'
import type { OldStore } from './old-store.ts'

/** Events of one transaction of the new store. */
const SLICE_EVENTS = 10_000
/** Events of one reading of the old store. */
const READ_EVENTS = 2_000

/** Carries the events of the old store over to the new one, with their signatures and archive segments. */
export type CarryingAppender = Readonly<{
  head(): number
  fold(): Fold
  /**
   * Carries the next events over, in one durable transaction: a slice at most. Returns whether events are left. Throws a
   * StoreError when an event is not the one that was published.
   */
  carrySlice(): boolean
}>

/** Opens the appender. It signs nothing: signatures and the notes of months are those of the old store. */
export function openCarryingAppender(db: DatabaseSync, old: OldStore): CarryingAppender {
  const current: { row: Row } = { row: {} }
  const signer = {
    sign: ({ size }: Readonly<{ size: number }>) => ({ signature: NOTHING, note: old.noteAt(size) ?? '' }),
  }
  const openTree = openCheckedTree(() => current.row)
  const appender = openAppender(db, signer, { openTree, segmentOf: segmentsOf(old.db) })
  const sign = db.prepare('UPDATE main.events SET signature = ?1 WHERE seq = ?2 AND signature IS NOT ?1')

  function take(row: Row): void {
    const { seq } = appender.head()
    // The service signs its newest tree again when its keys change, so the newest event is read again each time.
    if (row['seq'] === seq) sign.run(signatureOf(row), seq)
    else {
      current.row = row
      const { event, details } = entryOf(row, seq + 1)
      appender.append({ ref: null, ...event, details }, null, event.atMs)
    }
  }

  function carry(): boolean {
    for (let taken = 0; taken < SLICE_EVENTS; taken += READ_EVENTS) {
      const rows = old.rowsFrom(Math.max(1, appender.head().seq), READ_EVENTS)
      for (const row of rows) take(row)
      appender.keep()
      if (rows.length < READ_EVENTS) return false
    }
    return true
  }

  return {
    head: () => appender.head().seq,
    fold: appender.fold,
    carrySlice: () => inCommit(appender, carry),
  }
}

const NOTHING = new Uint8Array(0)

function inCommit<T>(appender: Appender, change: () => T): T {
  appender.begin()
  try {
    const result = change()
    appender.commit()
    return result
  } catch (error) {
    appender.rollback()
    throw error
  }
}

/** The event of a row, which must be that of `seq`. */
function entryOf(row: Row, seq: number): Entry {
  let entry: Entry | undefined
  try {
    entry = entryOfRow(row)
  } catch {
    // A line that is no event.
  }
  if (entry?.event.seq !== seq || number(row, 'seq') !== seq) throw damaged(seq)
  return entry
}

function damaged(seq: number): StoreError {
  return new StoreError(
    `seq ${seq}: the event is not what was published, so nothing was upgraded: restore the newest backup`,
  )
}

function signatureOf(row: Row): Uint8Array | null {
  return row['signature'] === null ? null : bytes(row, 'signature')
}

/** A tree that compares each leaf with that of the old store, and takes its signature. */
function openCheckedTree(current: () => Row): typeof openTreeWriter {
  return (...own) => {
    const tree = openTreeWriter(...own)
    return {
      ...tree,
      add(line, details) {
        const added = tree.add(line, details)
        const row = current()
        if (Buffer.compare(added.leaf, bytes(row, 'leaf')) !== 0) throw damaged(number(row, 'seq'))
        return { ...added, signature: signatureOf(row) }
      },
      sign: () => undefined,
    }
  }
}
