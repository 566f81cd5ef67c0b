import type { Option } from '../command/plug/option.ts'

/**
 * Option that drains the platform's own PostgreSQL table. The platform inserts drafts in its transactions, and they are
 * published in the order of the commits. To read: `outbox-sql.ts` for the table, `drain.ts` for the loop.
 */
export const OUTBOX: Option = {
  publish: async () => (await import('./publish-outbox.ts')).PUBLISH_OUTBOX,
}
