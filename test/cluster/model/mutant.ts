import type { CommitAnswer, NodeBook } from '../../../src/cluster/node/cluster-node.ts'
import type { LeadSession, LogTable } from '../../../src/cluster/table/log-table.ts'

/** A change that breaks a promise of the node or of its parts. The model must notice it. */
export type Mutant = Readonly<{
  book?(book: NodeBook): NodeBook
  table?(table: LogTable, book: NodeBook): LogTable
  result?<Value>(result: CommitAnswer<Value>): CommitAnswer<Value>
}>

export const NO_MUTANT: Mutant = {}

/** The same table, whose sessions of the lock are changed. */
function withSession(change: (session: LeadSession, book: NodeBook) => Partial<LeadSession>): Mutant {
  return {
    table: (table, book) => ({
      ...table,
      async lead(applied) {
        const session = await table.lead(applied)
        return session === null ? null : { ...session, ...change(session, book) }
      },
    }),
  }
}

/** Mutants that random schedules show. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'says that nothing was published when the outcome is unknown': {
    result: (result) => (result.is === 'unknown' ? { is: 'not-leading', reason: 'a mutant' } : result),
  },
  'believes an append that nobody has confirmed': withSession(({ append }) => ({
    append: async (place, bytes) => ((await append(place, bytes)) === 'refused' ? 'refused' : 'appended'),
  })),
  'believes in the end of its own books': withSession((_session, book) => ({
    barrier: async () => book.applied().place,
    look: async (_from, _bytes, applied) => ({
      server: { systemId: '1', timeline: 1 },
      rows: [],
      last: applied,
      isProved: true,
      isLed: true,
      shown: 0,
    }),
  })),
}

/** Mutants that schedules show in which the table loses its tail while all are connected. */
export const LOSS_MUTANTS: Readonly<Record<string, Mutant>> = {
  'believes an append that was refused': withSession(({ append }) => ({
    append: async (place, bytes) => ((await append(place, bytes)) === 'unknown' ? 'unknown' : 'appended'),
  })),
  'puts no row back': { book: (book) => ({ ...book, kept: () => [] }) },
  'does not wait for the rows of others': {
    table: (table) => ({
      ...table,
      look: async (...asked) => ({ ...(await table.look(...asked)), shown: 0 }),
      async lead(applied) {
        const session = await table.lead(applied)
        if (session === null) return null
        return { ...session, look: async (...asked) => ({ ...(await session.look(...asked)), shown: 0 }) }
      },
    }),
  },
}
