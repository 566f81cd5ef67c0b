import { BUILDING_TXS, EVENT_INDEXES } from '../../log/store/store-schema.ts'
import { StoreError, writeNeeds } from '../../log/store/store.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import type { BuildingStore, BuildState, OldStore } from './building-store.ts'
import { sameEvents } from './upgrade-proof.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import type { DatabaseSync } from 'node:sqlite'
import { type Appender, openAppender } from '../../log/append.ts'
import { segmentsOf } from '../../log/archive/stored-segments.ts'
import { entryOfRow } from '../../log/books/stored-repository.ts'
import { bytes, number, type Row } from '../../log/store/codec.ts'
import { openTreeWriter } from '../../log/tree/tree-writer.ts'
import type { Fold } from '../../project/fold/fold.ts'
import type { Entry } from '../../protocol/event.ts'

/** Events of one step of the comparison. */
const COMPARED_EVENTS = 50_000

/** Progress of a build: events, or refs while these are copied. */
export type BuildProgress = Readonly<{
  stage: Exclude<BuildState['stage'], 'following'>
  done: number
  total: number
}>

type Steps = Generator<BuildProgress, void>

/**
 * Builds the new store up to an event that was the newest one a moment ago, from where it stands. Each step is one durable
 * transaction. Yields after each, and may be left there.
 */
export function* buildSteps(store: BuildingStore, old: OldStore, appender: CarryingAppender): Steps {
  if (store.state().stage === 'events') yield* carryEvents(store, old, appender)
  // No event is carried over in the next stages, also when they are interrupted, so all slices of refs end at one seq.
  const head = appender.head()
  if (store.state().stage === 'refs') yield* copyRefs(store, head)
  if (store.state().stage === 'indexes') {
    yield { stage: 'indexes', done: 0, total: head }
    inTransaction(store.db, () => {
      store.db.exec(`${BUILDING_TXS.sort}; ${EVENT_INDEXES.create}`)
      store.note({ ...store.state(), stage: 'comparing' })
    })
  }
  if (store.state().stage === 'comparing') yield* compareEvents(store, head)
}

function* carryEvents(store: BuildingStore, old: OldStore, appender: CarryingAppender): Steps {
  while (appender.carrySlice()) yield { stage: 'events', done: appender.head(), total: headOf(old.db) }
  inTransaction(store.db, () => store.note({ ...store.state(), stage: 'refs' }))
}

function* copyRefs(store: BuildingStore, head: number): Steps {
  let after: string | null = lastRef(store.db)
  for (let copied = 0; after !== null; copied += SLICE_REFS) {
    yield { stage: 'refs', done: Math.min(copied, head), total: head }
    const from: string = after
    after = store.besideOld(() => copyRefsAfter(store.db, from, head))
  }
  inTransaction(store.db, () => store.note({ ...store.state(), stage: 'indexes', refsTo: head }))
}

/** Compares the events of the two stores, up to the newest. That one is left out: the service may sign it again. */
function* compareEvents(store: BuildingStore, head: number): Steps {
  const end = Math.max(0, head - 1)
  for (let at = store.state().comparedTo, isLeft = true; isLeft;) {
    yield { stage: 'comparing', done: at, total: head }
    const upTo = Math.min(at + COMPARED_EVENTS, end)
    isLeft = upTo < end
    store.besideOld(() => {
      if (sameEvents(store.db, at, upTo) !== upTo - at) throw new StoreError(differs(at, upTo))
      store.note({ ...store.state(), comparedTo: upTo, stage: isLeft ? 'comparing' : 'following' })
    })
    at = upTo
  }
}

/** Carries over what was published since. */
export function followLog(appender: CarryingAppender): void {
  while (appender.carrySlice());
}

/** Completes the new store, while nobody publishes: with the last events, their refs, and the small tables. */
export function catchUp(store: BuildingStore, appender: CarryingAppender): void {
  followLog(appender)
  store.besideOld(() => {
    const state = store.state()
    const head = appender.head()
    copyRefsOf(store.db, state.refsTo, head)
    copyTables(store.db)
    store.note({ ...state, refsTo: head })
  })
}

function differs(after: number, upTo: number): string {
  return `the new store differs from the old one in seqs ${after + 1} to ${upTo}, so nothing was upgraded`
}

/**
 * Tables that do not follow from the log, with their columns. They are small, and are copied whole at the end. `refs` is
 * copied apart, because it has a row for each event. `held_counts` comes after the tables whose triggers change it. A
 * table that came with a newer schema than `OLDEST_SCHEMA` is to be copied only from stores that have it.
 */
const COPIED: readonly (readonly [table: string, columns: string])[] = [
  ['meta', 'key, value'],
  ['signing_keys', 'vkey, from_size, to_size, statement'],
  ['held', 'id, ref, draft, accepted_at, chain, place, settled_at, vouch, reason'],
  ['settled', 'id, ref, draft, accepted_at, state, settled_at, place, reason'],
  ['vouched', 'seq, reason, at'],
  ['held_counts', 'id, held, refused, failed, dropped, vouched, version'],
  ['sqlite_sequence', 'name, seq'],
  ['messages', 'place, bytes'],
]

/** Rows of `refs` of one transaction. */
const SLICE_REFS = 50_000

/** Copies the tables that do not follow from the log over those of the new store, in the caller's transaction. */
function copyTables(db: DatabaseSync): void {
  for (const [table, columns] of COPIED) {
    db.exec(`DELETE FROM main.${table};
      INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM old.${table}`)
  }
  writeNeeds(db)
}

/**
 * Copies the next refs in their order, of events up to `upTo`, in the caller's transaction. Returns the last ref that it
 * has looked at; null when there is no further one.
 */
function copyRefsAfter(db: DatabaseSync, after: string, upTo: number): string | null {
  const slice = 'SELECT ref, seq, digest FROM old.refs WHERE ref > ?1 ORDER BY ref LIMIT ?2'
  const last = db.prepare(`SELECT max(ref) AS ref FROM (${slice})`).get(after, SLICE_REFS)?.['ref']
  if (typeof last !== 'string') return null
  db.prepare(
    `INSERT INTO main.refs (ref, seq, digest) SELECT ref, seq, digest FROM (${slice}) WHERE seq <= ?3`,
  ).run(after, SLICE_REFS, upTo)
  return last
}

/** The last ref that was copied; empty before the first. */
function lastRef(db: DatabaseSync): string {
  const ref = db.prepare('SELECT max(ref) AS ref FROM main.refs').get()?.['ref']
  return typeof ref === 'string' ? ref : ''
}

/** Copies the refs of the events after `after`, up to `upTo`. Reads all refs, because only the ref is indexed. */
function copyRefsOf(db: DatabaseSync, after: number, upTo: number): void {
  if (after === upTo) return
  db.prepare(
    'INSERT INTO main.refs (ref, seq, digest) SELECT ref, seq, digest FROM old.refs WHERE seq > ? AND seq <= ?',
  ).run(after, upTo)
}

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
      appender.write()
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
