import { sha256 } from '../../log/tree/signer.ts'
import type { LeadSession, TableRow } from '../table/log-table.ts'
import { ROW_BYTES_MAX, TableError, TableHole, UNPROVED } from '../table/log-table.ts'
import type { NodeBook } from './node-book.ts'
import type { Branches } from './node-settings.ts'
import { NodeStopped } from './node-settings.ts'

/** Bytes of one look at the table. */
export const READ_BYTES_MAX: number = 2 * ROW_BYTES_MAX
/** Bytes of the rows of one branch that are kept as evidence. */
const EVIDENCE_BYTES_MAX: number = 64 * 1024 * 1024

type Looks = Pick<LeadSession, 'look'>

/** Stops the node when the table has another row than its own at a place. */
export async function refuseFork(table: Looks, place: number, digest: Uint8Array): Promise<void> {
  const { isProved, rows } = await table.look(place, 1, place)
  const [row] = rows
  if (row?.place !== place)
    throw new TableError(isProved ? `the table does not show the row at place ${place}` : UNPROVED)
  if (Buffer.compare(sha256(row.bytes), digest) === 0) return
  const reason = `the table has another row at place ${place} than this node has served: this node keeps both as evidence`
  throw new NodeStopped({ is: 'fork', place, reason })
}

/**
 * Reads both branches of a fork from the first place where they differ, or from the newest kept row if they do not: so
 * many bytes of each.
 */
export async function readBranches(book: NodeBook, table: Looks): Promise<Branches> {
  const kept = book.kept(1)
  const newest = book.applied().place
  const theirs: TableRow[] = []
  let ours = 0
  let size = 0
  const first = await firstShown(table, kept[0]?.place ?? newest + 1, newest)
  while (ours < kept.length - 1 && (kept[ours]?.place ?? first) < first) ours += 1
  for (let next = first; size <= EVIDENCE_BYTES_MAX;) {
    const { rows } = await table.look(next, READ_BYTES_MAX, newest)
    if (rows.length === 0) break
    for (const row of rows) {
      const own = kept[ours]
      const isShared = theirs.length === 0 && ours < kept.length - 1
      if (isShared && own?.place === row.place && Buffer.compare(own.bytes, row.bytes) === 0) {
        ours += 1
        continue
      }
      theirs.push(row)
      size += row.bytes.length
    }
    next += rows.length
  }
  return { ours: firstOf(kept.slice(ours)), table: firstOf(theirs) }
}

/** The place at which reading begins: this one, or that of the oldest row when older ones were deleted. */
async function firstShown(table: Looks, place: number, applied: number): Promise<number> {
  try {
    await table.look(place, 1, applied)
    return place
  } catch (error) {
    if (error instanceof TableHole) return error.place
    throw error
  }
}

/** The first rows that have so many bytes together. */
function firstOf(rows: readonly TableRow[]): readonly TableRow[] {
  let size = 0
  const end = rows.findIndex(({ bytes }) => {
    size += bytes.length
    return size > EVIDENCE_BYTES_MAX
  })
  return end < 0 ? rows : rows.slice(0, end)
}
