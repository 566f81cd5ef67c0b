import type { Option } from '../command/plug/option.ts'

/**
 * The option that drains the platform's own table: drafts that a platform inserts in its transactions, in PostgreSQL, are
 * published in the order of their commits. To read: `outbox-sql.ts` for the table, `drain.ts` for the loop.
 */
export const OUTBOX: Option = {
  publish: async () => (await import('./publish-outbox.ts')).PUBLISH_OUTBOX,
}
