import type { DatabaseSync } from 'node:sqlite'
import { type HighWater, markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { hasStore, openForWriting, StoreError, storePath } from '../../log/store/store.ts'
import { faultAtStart, type LogFault } from '../../log/tree/log-fault.ts'
import { newestCheckpoint } from '../../log/tree/ready-log.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { openStoredTree } from '../../log/tree/stored-tree.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { isSame } from '../../tlog/hash.ts'
import { createStoreFromRow } from '../row/begin-row.ts'
import { readTablePlace } from '../row/kept-rows.ts'
import { type LogTable, ROW_BYTES_MAX, TableError, UNPROVED } from '../table/log-table.ts'

type JoinSettings = Readonly<{
  dataDirectory: string
  keys: readonly SigningKey[]
  /** Opens the table of a log whose id is not known yet. */
  open(): LogTable
  /** Called after a failed attempt to read the first row. Rejects when the node stops. */
  wait(reason: string): Promise<void>
}>

/** A store whose log is on a table. */
type JoinedStore = Readonly<{
  db: DatabaseSync
  /** High-water mark that the node must reach again; null when the store has all events that it has served. */
  owed: HighWater | null
}>

/**
 * Opens the store of a node whose log is on a table. An empty directory gets a new store from the table's first row.
 * Changes no identity, key or signature of a log. Throws a StoreError that says what is wrong.
 */
export async function joinTable(settings: JoinSettings): Promise<JoinedStore> {
  const { dataDirectory, keys } = settings
  const mark = readHighWater(dataDirectory)
  if (!hasStore(dataDirectory)) createStoreFromRow(storePath(dataDirectory), await firstRow(settings), keys)
  const db = openForWriting(storePath(dataDirectory))
  try {
    if (readTablePlace(db) === null) throw new StoreError(ALONE)
    const fault = faultAtStart(db, mark, keys)
    demandSound(fault)
    // The missing part comes from the table, and must equal the served events.
    if (fault === null) markHighWater(dataDirectory, newestCheckpoint(db))
    return { db, owed: fault === null ? null : mark }
  } catch (error) {
    db.close()
    throw error
  }
}

const ALONE =
  'no table carries the log of this directory: move it there with daybook cluster move, or start with an empty directory'

/** Refuses a store with another fault than missing newest events. */
function demandSound(fault: LogFault | null): void {
  if (fault !== null && !fault.lost) throw new StoreError(`seq ${fault.seq}: ${fault.reason}`)
}

/** First row of the log. Waits until the database answers. */
async function firstRow({ open, wait }: JoinSettings): Promise<Uint8Array> {
  await using table = open()
  for (;;) {
    let last = 0
    try {
      last = (await table.look(Number.MAX_SAFE_INTEGER, 1, 0)).last
      const { rows, isProved } = await table.look(1, ROW_BYTES_MAX, 0)
      if (rows[0] !== undefined) return rows[0].bytes
      if (isProved) throw new StoreError(NOTHING_THERE)
      await wait(UNPROVED)
    } catch (error) {
      if (!(error instanceof TableError)) throw error
      // The table could be read before, and then had no row 1.
      if (last > 0) throw new StoreError(NO_BEGINNING, { cause: error })
      await wait(error.message)
    }
  }
}

const NOTHING_THERE =
  'the table has no log yet: put one there with daybook cluster move, then start this node with an empty directory'

const NO_BEGINNING =
  'the oldest rows of the table were deleted: start this node from a backup of another one (daybook restore)'

/** Newest tree that a node has served, when its store lacks it because an older backup was restored. */
export type OwedTree = Readonly<{
  /** Whether the store has it. Until then this node accepts no drafts. */
  isReached(): boolean
  /**
   * Whether the log with this head and place differs from the served one. Checked once, when the log is long enough.
   */
  differs(seq: number, place: number): boolean
}>

/** Opens the tree of a high-water mark; null when the store lacks nothing. */
export function openOwedTree(db: DatabaseSync, mark: HighWater | null): OwedTree {
  const read = mark === null ? null : readCheckpoint(Buffer.from(mark.checkpoint))
  let owed = read !== null && read.ok ? read.value.checkpoint : null
  return {
    isReached: () => owed === null,
    differs(seq, place) {
      if (owed === null || seq < owed.size || place < (mark?.place ?? 0)) return false
      const { size, root } = owed
      owed = null
      return !isSame(openStoredTree(db).at(size).root, root)
    },
  }
}
