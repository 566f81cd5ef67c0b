import type { LogTable } from '../../../src/cluster/table/log-table.ts'

/** A table that can be disturbed: PostgreSQL, or the model in memory. Each is empty and whole at the start of a case. */
export type TableRig = Readonly<{
  /** Empties the table, repairs everything, and forgets every session. */
  reset(): Promise<void>
  /** Opens the table as another node. The caller disposes it. */
  open(): LogTable
  /** Ends all sessions on the server; their owners learn of it. */
  cutSessions(): Promise<void>
  /** Parts the table from its standbys until `joinStandbys`: nothing is proved, and an append has no answer. */
  partStandbys(): Promise<void>
  joinStandbys(): Promise<void>
  /** Makes the standby the primary. Rows that it lacks are lost. The timeline grows. A new standby follows. */
  failOver(): Promise<void>
  /** Deletes all rows from a place on, as a restored backup does. */
  cutTail(from: number): Promise<void>
  /** Lets a moment pass between two attempts. */
  pause(): Promise<void>
}>
