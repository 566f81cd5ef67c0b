import type { DatabaseSync } from 'node:sqlite'
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import { writeNeeds } from '../../log/store/store.ts'

/**
 * Tables that do not follow from the log, with their columns and the first schema that has them. They are small, and are
 * copied whole at the end. `refs` is copied apart, because it has a row for each event. `held_counts` comes after the
 * tables whose triggers change it.
 */
const COPIED: readonly Readonly<{ table: string; columns: string; since: number }>[] = [
  { table: 'meta', columns: 'key, value', since: OLDEST_SCHEMA },
  { table: 'signing_keys', columns: 'vkey, from_size, to_size, statement', since: OLDEST_SCHEMA },
  {
    table: 'held',
    columns: 'id, ref, draft, accepted_at, chain, place, settled_at, vouch, reason',
    since: 11,
  },
  {
    table: 'settled',
    columns: 'id, ref, draft, accepted_at, state, settled_at, place, reason',
    since: 11,
  },
  { table: 'vouched', columns: 'seq, reason, at', since: 11 },
  { table: 'held_counts', columns: 'id, held, refused, failed, dropped, vouched, version', since: 11 },
  { table: 'sqlite_sequence', columns: 'name, seq', since: 11 },
  { table: 'messages', columns: 'place, bytes', since: 12 },
]

/** Rows of `refs` of one transaction. */
export const SLICE_REFS = 50_000

/** Whether an upgrade reads stores of this schema. */
export function isReleased(schema: number): boolean {
  return schema >= OLDEST_SCHEMA && schema <= SCHEMA_VERSION
}

/** Copies the tables that do not follow from the log over those of the new store, in the caller's transaction. */
export function copyTables(db: DatabaseSync, schema: number): void {
  for (const { table, columns, since } of COPIED) {
    if (schema < since) continue
    db.exec(`DELETE FROM main.${table};
      INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM old.${table}`)
  }
  writeNeeds(db)
}

/**
 * Copies the next refs in their order, of events up to `upTo`, in the caller's transaction. Returns the last ref that it
 * has looked at; null when there is no further one.
 */
export function copyRefsAfter(db: DatabaseSync, after: string, upTo: number): string | null {
  const slice = 'SELECT ref, seq, digest FROM old.refs WHERE ref > ?1 ORDER BY ref LIMIT ?2'
  const last = db.prepare(`SELECT max(ref) AS ref FROM (${slice})`).get(after, SLICE_REFS)?.['ref']
  if (typeof last !== 'string') return null
  db.prepare(
    `INSERT INTO main.refs (ref, seq, digest) SELECT ref, seq, digest FROM (${slice}) WHERE seq <= ?3`,
  ).run(after, SLICE_REFS, upTo)
  return last
}

/** The last ref that was copied; empty before the first. */
export function lastRef(db: DatabaseSync): string {
  const ref = db.prepare('SELECT max(ref) AS ref FROM main.refs').get()?.['ref']
  return typeof ref === 'string' ? ref : ''
}

/** Copies the refs of the events after `after`, up to `upTo`. Reads all refs, because only the ref is indexed. */
export function copyRefsOf(db: DatabaseSync, after: number, upTo: number): void {
  if (after === upTo) return
  db.prepare(
    'INSERT INTO main.refs (ref, seq, digest) SELECT ref, seq, digest FROM old.refs WHERE seq > ? AND seq <= ?',
  ).run(after, upTo)
}
