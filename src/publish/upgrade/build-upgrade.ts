import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { openAppender } from '../../log/append.ts'
import { segmentsOf } from '../../log/archive/stored-segments.ts'
import { entryOfRow } from '../../log/books/stored-repository.ts'
import { bytes, number, type Row } from '../../log/store/codec.ts'
import { giveOwnerAndMode } from '../../log/store/file-owner.ts'
import type { HighWater } from '../../log/store/high-water.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { removeStore } from '../../log/store/store-files.ts'
import { BUILDING_TXS, EVENT_INDEXES, SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import {
  createStore,
  openAnySchema,
  readIdentity,
  StoreError,
  storeSchema,
  writeNeeds,
} from '../../log/store/store.ts'
import { faultAtStart, headOf } from '../../log/tree/log-fault.ts'
import { openSignedTrees } from '../../log/tree/signed-trees.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { haveSameTree } from '../../log/tree/stored-tree.ts'
import { openTreeWriter } from '../../log/tree/tree-writer.ts'
import { openBuildRow, openLeft, openUnfinished } from '../../log/unfinished-store.ts'
import { contestsOf, sumOfAccounts } from '../../project/fold/ledger.ts'
import type { Entry } from '../../protocol/event.ts'

/** Progress of an upgrade, in the new store. */
type BuildState = Readonly<{
  /** Version of Daybook that builds. Another version may compute other rows, so it begins again. */
  version: string
  /** Schema of the old store. */
  from: number
  /** Stages, in this order. `following`: the store lacks only the newest events. */
  stage: 'events' | 'indexes' | 'comparing' | 'following'
  /** The refs of events up to this seq are carried over. */
  refsTo: number
  /** Events up to this seq are compared with the old store. */
  comparedTo: number
}>

/** Progress of a build, in events. */
export type BuildProgress = Readonly<{
  stage: Exclude<BuildState['stage'], 'following'>
  done: number
  total: number
}>

/** New store of an upgrade, beside the old one. No other process can open it. */
export type BuildingStore = Readonly<{
  db: DatabaseSync
  head(): number
  /**
   * Continues building the store, up to an event that was the newest one a moment ago. Each step is one durable
   * transaction. Yields after each, where the caller may stop. Throws a StoreError when an event differs from the
   * published one.
   */
  build(): Generator<BuildProgress, void>
  /** Carries over the events that were published since. */
  follow(): void
  /** Completes the store while nobody publishes: adds the last events, their refs, and the small tables. */
  complete(): void
  /** Proves the store before it replaces the old one. Throws a StoreError that names the difference. */
  prove(mark: HighWater | null, keys: readonly SigningKey[]): void
  /** Ends the build: makes the store one file with the settings of a served store. */
  finish(): void
  close(): void
}>

/** Events of one transaction of the new store, one read of the old one, and one step of the comparison. */
const SLICE_EVENTS = 10_000
const READ_EVENTS = 2_000
const COMPARED_EVENTS = 50_000

const PROGRESS = openBuildRow<BuildState>('upgrade')

/**
 * Opens the new store of an upgrade. Continues one that an interrupted upgrade has left, if it is of this log and its
 * tree is a part of the old one. Otherwise begins an empty one. Commits are durable, and a crash loses at most the
 * newest transaction.
 */
export function openBuilding(path: string, old: OldStore, version: string): BuildingStore {
  const db = openOrCreate(path, old, version)
  const carrying = openCarrying(db, old)

  function state(): BuildState {
    const found = PROGRESS.read(db)
    if (found === undefined) throw new Error('a store that is being built has a state')
    return found
  }

  /** Runs a change and writes the state in one durable transaction, with the old store attached as `old`. */
  function besideOld(after: Partial<BuildState>, change: () => void): void {
    db.prepare('ATTACH ? AS old').run(`${pathToFileURL(old.path).href}?mode=ro`)
    try {
      inTransaction(db, () => {
        const before = state()
        change()
        PROGRESS.note(db, { ...before, ...after })
      })
    } finally {
      db.exec('DETACH old')
    }
  }

  return {
    db,
    head: carrying.head,
    *build() {
      while (state().stage === 'events') {
        if (carrying.carrySlice()) yield { stage: 'events', done: carrying.head(), total: headOf(old.db) }
        else inTransaction(db, () => PROGRESS.note(db, { ...state(), stage: 'indexes' }))
      }
      // The next stages carry over no event, even when they are interrupted, so the refs end at one seq.
      const head = carrying.head()
      if (state().stage === 'indexes') {
        yield { stage: 'indexes', done: 0, total: head }
        besideOld({ stage: 'comparing', refsTo: head }, () => {
          db.prepare(`${COPY_REFS} WHERE seq <= ? ORDER BY ref`).run(head)
          db.exec(`${BUILDING_TXS.sort}; ${EVENT_INDEXES.create}`)
        })
      }
      // Skips the newest event, because the service may sign it again.
      const end = Math.max(0, head - 1)
      while (state().stage === 'comparing') {
        const after = state().comparedTo
        yield { stage: 'comparing', done: after, total: head }
        const upTo = Math.min(after + COMPARED_EVENTS, end)
        besideOld({ comparedTo: upTo, stage: upTo < end ? 'comparing' : 'following' }, () => {
          if (sameEvents(db, after, upTo) !== upTo - after)
            throw new StoreError(
              `the new store differs from the old one in seqs ${after + 1} to ${upTo}, so nothing was upgraded`,
            )
        })
      }
    },
    follow() {
      while (carrying.carrySlice());
    },
    complete() {
      while (carrying.carrySlice());
      const head = carrying.head()
      besideOld({ refsTo: head }, () => {
        // Reads all refs, because only the ref is indexed.
        db.prepare(`${COPY_REFS} WHERE seq > ? AND seq <= ?`).run(state().refsTo, head)
        copyTables(db)
      })
    },
    prove: (mark, keys) => besideOld({}, () => prove(db, old.db, carrying.tally(), mark, keys)),
    finish: () => PROGRESS.finish(db),
    close() {
      if (db.isOpen) db.close()
    },
  }
}

function openOrCreate(path: string, old: OldStore, version: string): DatabaseSync {
  const left = openLeft(
    path,
    (db) => canContinue(db, old, version),
    () => giveOwnerAndMode(path, old.path),
  )
  if (left !== null) return left
  removeStore(path)
  const identity = readIdentity(old.db)
  createStore(path, identity, identity)
  giveOwnerAndMode(path, old.path)
  const db = openUnfinished(path)
  inTransaction(db, () => {
    db.exec(`${BUILDING_TXS.gather}; ${EVENT_INDEXES.drop}`)
    PROGRESS.note(db, { version, from: old.schema, stage: 'events', refsTo: 0, comparedTo: 0 })
  })
  return db
}

function canContinue(db: DatabaseSync, old: OldStore, version: string): boolean {
  const state = PROGRESS.read(db)
  if (storeSchema(db) !== SCHEMA_VERSION || state?.version !== version || state.from !== old.schema)
    return false
  const size = headOf(db)
  if (readIdentity(db).id !== readIdentity(old.db).id || size > headOf(old.db)) return false
  return size === 0 || haveSameTree(db, old.db, size)
}

const COPY_REFS = 'INSERT INTO main.refs (ref, seq, digest) SELECT ref, seq, digest FROM old.refs'

/**
 * Tables that do not follow from the log, with their columns. They are small and are copied whole at the end. `refs` is
 * copied apart, because it has a row for each event. `held_counts` comes after the tables whose triggers change it.
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

/** Copies the tables that do not follow from the log into the new store, in the caller's transaction. */
function copyTables(db: DatabaseSync): void {
  for (const [table, columns] of COPIED) {
    db.exec(`DELETE FROM main.${table};
      INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM old.${table}`)
  }
  writeNeeds(db)
}

/**
 * Opens the appender that carries events over, with their signatures and archive segments. It signs nothing: signatures
 * and month notes come from the old store.
 */
function openCarrying(db: DatabaseSync, old: OldStore) {
  let current: Row = {}
  const signer = {
    sign: ({ size }: Readonly<{ size: number }>) => ({
      signature: new Uint8Array(0),
      note: old.noteAt(size) ?? '',
    }),
  }
  const openTree: typeof openTreeWriter = (...own) => {
    const tree = openTreeWriter(...own)
    return {
      ...tree,
      // Compares each leaf with that of the old store, and takes its signature.
      add(line, details) {
        const added = tree.add(line, details)
        if (Buffer.compare(added.leaf, bytes(current, 'leaf')) !== 0) throw damaged(number(current, 'seq'))
        return { ...added, signature: signatureOf(current) }
      },
      sign: () => undefined,
    }
  }
  const appender = openAppender(db, signer, { openTree, segmentOf: segmentsOf(old.db) })
  const sign = db.prepare('UPDATE main.events SET signature = ?1 WHERE seq = ?2 AND signature IS NOT ?1')

  function carry(row: Row): void {
    const { seq } = appender.head()
    // The service signs its newest tree again when its keys change, so the newest event is always read again.
    if (row['seq'] === seq) return void sign.run(signatureOf(row), seq)
    current = row
    const { event, details } = entryOf(row, seq + 1)
    appender.append({ ref: null, ...event, details }, null, event.atMs)
  }

  return {
    head: (): number => appender.head().seq,
    tally: () => appender.fold().tally,
    /** Carries over the next slice of events in one durable transaction. Returns whether events are left. */
    carrySlice(): boolean {
      appender.begin()
      try {
        let isLeft = true
        for (let carried = 0; carried < SLICE_EVENTS && isLeft; carried += READ_EVENTS) {
          const rows = old.rowsFrom(Math.max(1, appender.head().seq), READ_EVENTS)
          for (const row of rows) carry(row)
          appender.write()
          isLeft = rows.length === READ_EVENTS
        }
        appender.commit()
        return isLeft
      } catch (error) {
        appender.rollback()
        throw error
      }
    },
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

/** Number of events after `after`, up to `upTo`, with the same lines and signatures in both stores. */
export function sameEvents(db: DatabaseSync, after: number, upTo: number): number {
  const row = db
    .prepare(
      `SELECT count(*) AS count FROM old.events o JOIN main.events n ON n.seq = o.seq
       LEFT JOIN old.details od ON od.seq = o.seq LEFT JOIN main.details nd ON nd.seq = n.seq
       WHERE o.seq > ? AND o.seq <= ?
         AND n.line = o.line AND n.leaf = o.leaf AND n.signature IS o.signature AND nd.line IS od.line`,
    )
    .get(after, upTo)
  return Number(row?.['count'])
}

/** Proves the new store in a time that hardly depends on the length of the log. The old one is attached as `old`. */
function prove(
  db: DatabaseSync,
  old: DatabaseSync,
  tally: Parameters<typeof sumOfAccounts>[0],
  mark: HighWater | null,
  keys: readonly SigningKey[],
): void {
  const [head, oldHead] = [headOf(db), headOf(old)]
  demand(head === oldHead, `it ends at seq ${head} and the old one at ${oldHead}`)
  demand(haveSameTree(db, old, head), 'its tree has another root')
  const fault = faultAtStart(db, mark, keys)
  // The old store has the same loss, and the next start judges it.
  demand(fault === null || fault.lost, fault?.reason ?? '')
  const wrong = openSignedTrees(db).firstWrong()
  demand(wrong === null, `the tree at seq ${wrong?.upTo} is not the one that was signed`)
  for (const [name, table, columns] of COMPARED) {
    const [ours, theirs] = ['main', 'old'].map((store) => `SELECT ${columns} FROM ${store}.${table}`)
    const differing = `SELECT * FROM (${ours} EXCEPT ${theirs}) UNION ALL SELECT * FROM (${theirs} EXCEPT ${ours})`
    demand(db.prepare(differing).get() === undefined, `${name} differ`)
  }
  demand(sumOfAccounts(tally) === 0n, 'the accounts do not add up to zero')
  demand(BigInt(countOf(db, 'main.contests')) === contestsOf(tally), 'it holds another number of contests')
  demand(countOf(db, 'main.refs') === countOf(db, 'old.refs'), 'it holds another number of refs')
}

/** Small tables that must have the same rows in both stores. */
const COMPARED = [
  ['the manifests of closed months', 'months', 'month, first_seq, last_seq, events, closed, manifest'],
  ['the segments of month files', 'segments', 'month, file, start, last_seq, length(bytes), bytes_crc'],
  ['the signing keys', 'signing_keys', 'vkey, from_size, to_size, statement'],
] as const

function demand(holds: boolean, reason: string): void {
  if (holds) return
  throw new StoreError(
    `the new store is not used: ${reason}. The old store is unchanged: check it with the version that wrote it, or restore a backup`,
  )
}

function countOf(db: DatabaseSync, table: 'main.contests' | 'main.refs' | 'old.refs'): number {
  return Number(db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'])
}

/**
 * Store that an upgrade reads, of any released schema. Each method reads in its own transaction, which ends when it
 * returns. So an older Daybook can continue to write and to reset its write-ahead log.
 */
export type OldStore = Readonly<{
  path: string
  db: DatabaseSync
  schema: number
  /** Events from `seq` on with their details and signatures, at most `limit`. */
  rowsFrom(seq: number, limit: number): readonly Row[]
  /** Signed note of the tree at the end of a month with events; undefined when no closed month ends there. */
  noteAt(size: number): string | undefined
  /** Closes the store, unless it is closed. */
  close(): void
}>

export function openOldStore(path: string): OldStore {
  const db = openAnySchema(path, { readOnly: true })
  const rows = db.prepare(
    `SELECT e.seq AS seq, e.line AS line, e.leaf AS leaf, e.signature AS signature, d.line AS details
     FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq >= ? ORDER BY e.seq LIMIT ?`,
  )
  const note = db.prepare(
    `SELECT json_extract(manifest, '$.checkpoint') AS note FROM months WHERE closed = 1 AND last_seq = ?`,
  )
  return {
    path,
    db,
    schema: storeSchema(db),
    rowsFrom: (seq, limit) => rows.all(seq, limit),
    noteAt(size) {
      const found = note.get(size)?.['note']
      return typeof found === 'string' ? found : undefined
    },
    close() {
      if (db.isOpen) db.close()
    },
  }
}
