import { type Option, lazy } from '../command/plug/option.ts'

/**
 * Option that keeps a log on several nodes. One leads under an advisory lock in the operator's PostgreSQL, whose table
 * carries the log: one row a commit. The others follow the table, and take over when the lock is free. The room knows
 * the core, and no other option.
 *
 * To read: `node/term.ts` for one term of a leader, from its lock to its loss, and `node/follow-table.ts` for the
 * others. `table/open-table.ts` has the SQL of both, `row/log-row.ts` the rows, `book/table-book.ts` the store that
 * they change. `log/cluster-log.ts` connects all of this to the service.
 */
export const CLUSTER: Option = {
  commands: [
    lazy('operators', 'cluster', async () => (await import('./command/cluster-command.ts')).clusterCommand),
  ],
  serve: async () => (await import('./command/table-options.ts')).SERVE_ON_TABLE,
}
