import type { DatabaseSync } from 'node:sqlite'
import { bytes, number } from '../../log/store/codec.ts'
import { readIdentity } from '../../log/store/store.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import { readKeys } from '../../log/tree/signing-keys.ts'
import { HASHER, openStoredTree } from '../../log/tree/stored-tree.ts'
import { assert } from '../../protocol/brand.ts'
import { type Frontier, frontierAt } from '../../tlog/frontier.ts'
import { isSame } from '../../tlog/hash.ts'
import { openKeptRows, readTablePlace } from './kept-rows.ts'
import type { CommitRow, LogRow } from './log-row.ts'
import type { RowChainEnd } from './row-chain.ts'
import { decodeRow, digestOfRow } from './row-frame.ts'
import type { NewestRow } from '../node/cluster-node.ts'

/** Comparison of a store with the rows of its log, in order. */
type RowComparison = Readonly<{
  /** Tree of the first events; null when the store has fewer. */
  treeAt(size: number): Frontier | null
  /** Reason why a row differs from the store's; null when it does not, or when the store lacks it. */
  faultOf(place: number, bytes: Uint8Array, row: LogRow): string | null
  /** Rows and events of the store that the table lacks, one sentence each. */
  end(end: RowChainEnd): readonly string[]
  /** Distance of the store behind the table, one sentence each. */
  notices(end: RowChainEnd): readonly string[]
}>

/** Opens the comparison of a store whose log is on a table. */
export function compareRows(db: DatabaseSync): RowComparison {
  const newest = readTablePlace(db)
  assert(newest !== null, 'the log of the store is on a table')
  const head = headOf(db)
  const { id } = readIdentity(db)
  const listed = new Set(readKeys(db).map(({ vkey }) => vkey))
  const kept = new Map(
    openKeptRows(db)
      .from(1)
      .map(({ place, bytes: own }) => [place, own]),
  )
  const event = db.prepare(
    'SELECT e.line, d.line AS details FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq = ?',
  )

  function faultOfLines({ first, lines, details }: CommitRow): string | null {
    for (const [index, line] of lines.entries()) {
      const seq = first + index
      if (seq > head) return null
      const own = event.get(seq)
      if (own?.['line'] !== line || own['details'] !== (details[index] ?? null))
        return `the store has another event as seq ${seq}`
    }
    return null
  }

  return {
    treeAt: (size) => (size <= head ? frontierAt(HASHER, size, openStoredTree(db).tile) : null),
    faultOf(place, given, row) {
      if (row.logId !== id) return 'it is of another log than that of the store'
      if (row.is === 'begin' && row.keys.some(({ vkey }) => !listed.has(vkey)))
        return 'it lists a key that the store does not know'
      const own = kept.get(place)
      if (own !== undefined && Buffer.compare(own, given) !== 0) return 'the store keeps another row'
      if (place === newest.place && !isSame(digestOfRow(given), newest.digest))
        return 'the store names another row'
      return row.is === 'commit' ? faultOfLines(row) : null
    },
    end({ first, place, head: seq }) {
      if (first > newest.place + 1) {
        return [
          `the table begins at place ${first}, and the store ends at place ${newest.place}: restore a newer backup of a node`,
        ]
      }
      if (place < newest.place) {
        return [
          `the table ends at place ${place}, and the store at place ${newest.place}: start this node, and it puts the missing rows back`,
        ]
      }
      return seq < head ? [`the table ends at seq ${seq}, and the store at seq ${head}`] : []
    },
    notices: ({ head: seq }) => (seq > head ? [`the store is ${seq - head} events behind the table`] : []),
  }
}

/**
 * Fault text of the kept rows of a store whose log is on a table. Each row must follow the previous one, and the newest
 * must be the one in the store's `meta`. Null when there is no fault, or no table.
 */
export function faultOfKeptRows(db: DatabaseSync): string | null {
  const newest = readTablePlace(db)
  if (newest === null) return null
  const { id } = readIdentity(db)
  let before: NewestRow | null = null
  for (const stored of db.prepare('SELECT place, bytes FROM messages ORDER BY place').iterate()) {
    const [place, own] = [number(stored, 'place'), bytes(stored, 'bytes')]
    const decoded = decodeRow(own)
    if (!decoded.ok) return `messages: the row at place ${place} cannot be read: ${decoded.reason}`
    const { row } = decoded.signed
    if (row.place !== place || row.logId !== id)
      return `messages: the row at place ${place} is not of this log`
    if (before !== null && (before.place + 1 !== place || !isSame(before.digest, row.prev))) {
      return `messages: the row at place ${place} does not follow the one before it`
    }
    before = { place, digest: digestOfRow(own) }
  }
  if (before?.place === newest.place && isSame(before.digest, newest.digest)) return null
  return `messages: the newest is not the row at place ${newest.place}, which the store names`
}
