import type { DatabaseSync } from 'node:sqlite'
import { openForReading, readIdentity, StoreError } from '../../log/store/store.ts'
import { readKeys } from '../../log/tree/signing-keys.ts'
import { compareRows, faultOfKeptRows } from '../row/compare-rows.ts'
import { openRowChain, type RowChainEnd } from '../row/row-chain.ts'
import { APPEND_MS_MAX, ROW_BYTES_MAX } from '../table/log-table.ts'
import { inspectTable, openLogTable, type TableOptions } from '../table/open-table.ts'
import { asTableError, openTableSession, type PrimaryKeeper, TABLE } from '../table/table-session.ts'
import { readTablePlace } from '../row/kept-rows.ts'
import type { DatabaseTarget } from '../../command/database/database-url.ts'

type CheckSettings = Readonly<{
  target: DatabaseTarget
  /** Options of the table. Their id belongs to no log, so that nothing is led. */
  options: TableOptions
  /** File of a store that nobody writes, to compare with the table; null without one. */
  store: string | null
  signal: AbortSignal
  /** Called with the number of rows that were read. */
  onProgress(rows: number): void
}>

/** Findings in a table. */
type CheckedTable = Readonly<{
  /** Faults, one sentence each. The first fault of the rows ends the reading. */
  faults: readonly string[]
  /** Remarks that are no faults, one sentence each. */
  notices: readonly string[]
  rows: number
  end: RowChainEnd
}>

/**
 * Reads a table, and compares each row with the previous one: place, digest, signature, seq and root. With a store,
 * also compares its place, its kept rows and its lines. Throws a `TableError` when the table cannot be read, and a
 * StoreError for a store whose log no table carries.
 */
export async function checkTable(settings: CheckSettings): Promise<CheckedTable> {
  const { store } = settings
  if (store === null) return await checkWith(settings, null)
  using db = openForReading(store)
  if (readTablePlace(db) === null)
    throw new StoreError('no table carries the log of this directory: check it with daybook check')
  return await checkWith(settings, db)
}

async function checkWith(settings: CheckSettings, db: DatabaseSync | null): Promise<CheckedTable> {
  const { target, options, signal, onProgress } = settings
  const faults = [...(await inspectTable(target, options.isSingle, options.memory))]
  const kept = db === null ? null : faultOfKeptRows(db)
  if (kept !== null) faults.push(kept)
  const comparison = db === null ? null : compareRows(db)
  const chain = openRowChain({
    treeAt: (size) => comparison?.treeAt(size) ?? null,
    known: db === null ? null : { identity: readIdentity(db), keys: readKeys(db) },
  })
  const first = await firstPlace(target, options.memory)
  if (first === 0) faults.push('the table has no row')
  await using table = openLogTable(target, options)
  const { last } = await table.look(Number.MAX_SAFE_INTEGER, 1, 0)
  let rows = 0
  let isSound = true
  for (let place = Math.max(1, first); isSound && place <= last;) {
    if (signal.aborted) throw new StoreError('stopped')
    const look = await table.look(place, ROW_BYTES_MAX, 0)
    if (look.rows.length === 0) {
      faults.push(`place ${place}: no synchronous standby confirms it`)
      break
    }
    for (const row of look.rows) {
      const added = chain.add(row.place, row.bytes)
      const fault = added.fault ?? comparison?.faultOf(row.place, row.bytes, added.row) ?? null
      if (fault !== null) faults.push(`place ${row.place}: ${fault}`)
      isSound = fault === null
      if (!isSound) break
      place = row.place + 1
      rows += 1
    }
    onProgress(rows)
  }
  const end = chain.end()
  if (faults.length === 0) faults.push(...(comparison?.end(end) ?? []))
  const notices = [
    ...(first > 1 ? [`rows before place ${first} were deleted`] : []),
    ...(end.isEnded ? ['the log was taken off the table'] : []),
    ...(comparison?.notices(end) ?? []),
  ]
  return { faults, notices, rows, end }
}

/** Oldest place in the table; 0 if it is empty. Its owner may have deleted older rows. Throws a `TableError`. */
async function firstPlace(target: DatabaseTarget, memory: PrimaryKeeper | null): Promise<number> {
  try {
    await using session = await openTableSession(target, memory, new AbortController().signal)
    const [row] = await session.connection.ask(`SELECT min(place) AS first FROM ${TABLE}`, [], {
      answerMs: APPEND_MS_MAX,
    })
    return Number(row?.['first'] ?? 0)
  } catch (error) {
    throw asTableError(error)
  }
}
