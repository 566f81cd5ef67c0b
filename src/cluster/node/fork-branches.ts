import { sha256 } from '../../log/tree/signer.ts'
import {
  type LeadSession,
  MissingRow,
  ROW_BYTES_MAX,
  TableError,
  type TableRow,
  UNPROVED,
} from '../table/log-table.ts'
import { type Branches, type NodeBook, NodeStopped } from './cluster-node.ts'

/** Most bytes of one read of the table. */
export const READ_BYTES_MAX: number = 2 * ROW_BYTES_MAX
/** Most bytes of one branch's rows that are kept as evidence. */
const EVIDENCE_BYTES_MAX: number = 64 * 1024 * 1024

/**
 * Place that a stopped node shows. Others wait for a node with more rows than the table, but this one puts none back.
 */
const NO_PLACE = 0

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
 * Reads both branches of a fork from the first place where they differ, or from the newest kept row if they do not.
 * Reads a limited number of bytes of each.
 */
export async function readBranches(book: NodeBook, table: Looks): Promise<Branches> {
  const newest = book.applied().place
  const kept = await keptInBoth(book, table)
  const theirs: TableRow[] = []
  let ours = 0
  let size = 0
  for (let next = kept[0]?.place ?? newest + 1; size <= EVIDENCE_BYTES_MAX;) {
    const { rows } = await table.look(next, READ_BYTES_MAX, NO_PLACE)
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

/** Kept rows, without those whose place was deleted from the table. The newest one always stays. */
async function keptInBoth(book: NodeBook, table: Looks): Promise<readonly TableRow[]> {
  const kept = book.kept(1)
  const newest = book.applied().place
  try {
    await table.look(kept[0]?.place ?? newest, 1, NO_PLACE)
    return kept
  } catch (error) {
    if (!(error instanceof MissingRow)) throw error
    return kept.filter(({ place }) => place >= Math.min(error.next, newest))
  }
}

/** First rows, up to the limit of bytes. */
function firstOf(rows: readonly TableRow[]): readonly TableRow[] {
  let size = 0
  const end = rows.findIndex(({ bytes }) => {
    size += bytes.length
    return size > EVIDENCE_BYTES_MAX
  })
  return end < 0 ? rows : rows.slice(0, end)
}
