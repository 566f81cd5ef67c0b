import type { DatabaseSync } from 'node:sqlite'

/**
 * Opens the look-up of refs that an import must not use: those of drafts that are held, failed or dropped. The import
 * adds none, so an empty table stays empty.
 */
export function openHeldRefs(db: DatabaseSync): (ref: string) => boolean {
  const isEmpty = db.prepare('SELECT 1 FROM held UNION ALL SELECT 1 FROM settled LIMIT 1').get() === undefined
  if (isEmpty) return () => false
  const find = db.prepare('SELECT 1 FROM held WHERE ref = ?1 UNION ALL SELECT 1 FROM settled WHERE ref = ?1')
  return (ref) => find.get(ref) !== undefined
}
