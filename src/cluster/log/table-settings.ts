import type { SentDatabase } from '../../database/sent-database.ts'

/** The table that carries the log (`--log-store`), as it can be passed between threads. */
export type TableSettings = Readonly<{
  database: SentDatabase
  /** Whether one database without a synchronous standby is accepted. */
  isSingle: boolean
}>
