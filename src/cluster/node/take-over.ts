import { sha256 } from '../../log/tree/signer.ts'
import { type LeadSession, TableError } from '../table/log-table.ts'
import { refuseFork } from './fork-branches.ts'
import type { NodeStop } from './cluster-node.ts'
import type { NodeBook } from './node-book.ts'
import { NodeStopped } from './node-settings.ts'

const EMPTY =
  'the table is empty: give the address of the database that has this log, or move the log onto this one with daybook cluster move'

/** The look of a session, whose rows are applied. Returns how many they were. */
type Advance = (session: LeadSession) => Promise<number>

/**
 * Brings books and table to the same end, in the session of the lock. Returns how many rows of this node it has put back
 * into a table that has lost them. Throws a `NodeStopped` for a table that contradicts the books.
 */
export async function meetTable(session: LeadSession, book: NodeBook, advance: Advance): Promise<number> {
  while ((await advance(session)) > 0);
  // A server that was replaced may have told these rows. The barrier proves that it is the primary, and that everything
  // that anyone was told to be appended is at or below its answer.
  const end = await session.barrier()
  while (book.applied().place < end) {
    if ((await advance(session)) === 0)
      throw new TableError(`the table does not show the row at place ${book.applied().place + 1}`)
  }
  const { place, digest } = book.applied()
  if (place > end) return await putBack(session, book, end)
  await refuseFork(session, place, digest)
  return 0
}

/** Puts the rows after a place back: same bytes, same places. */
async function putBack(session: LeadSession, book: NodeBook, end: number): Promise<number> {
  const { place } = book.applied()
  if (end === 0) throw new NodeStopped({ is: 'lost', place: 1, reason: EMPTY })
  const [newest, ...missing] = book.kept(end)
  if (newest?.place !== end) {
    const reason = `the table ends at place ${end}, and this node keeps only the rows from place ${newest?.place ?? place} on: restore a newer backup of the database`
    throw new NodeStopped({ is: 'lost', place: end + 1, reason })
  }
  await refuseFork(session, end, sha256(newest.bytes))
  for (const row of missing) {
    const answer = await session.append(row.place, row.bytes)
    if (answer !== 'appended')
      throw new TableError(`the table does not take the row at place ${row.place} again`)
  }
  return missing.length
}

/** Stop of a node whose next row the table has no longer. */
export function missingRow(place: number): NodeStop {
  const reason = `the table no longer has the row at place ${place}: start this node from a newer backup, or with an empty directory`
  return { is: 'lost', place, reason }
}
