import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { bytes } from '../store/codec.ts'
import type { ServedMessage } from '../store/high-water.ts'
import type { EnginePosition } from './engine-position.ts'

/**
 * Compares a message that a node had with those of its store, which ends at a position. A message that the store keeps no
 * longer, or of a stream before, counts as the same.
 */
export function compareMessage(
  db: DatabaseSync,
  { stream, place, digest }: EnginePosition,
  served: ServedMessage,
): 'same' | 'missing' | 'other' {
  if (stream < served.stream || (stream === served.stream && place < served.place)) return 'missing'
  if (stream > served.stream) return 'same'
  const own = place === served.place ? Buffer.from(digest).toString('hex') : keptDigest(db, served.place)
  return own === null || own === served.digest ? 'same' : 'other'
}

/** Digest of a kept message in hex; null when it is not kept. */
function keptDigest(db: DatabaseSync, place: number): string | null {
  const row = db.prepare('SELECT bytes FROM messages WHERE place = ?').get(place)
  return row === undefined ? null : createHash('sha256').update(bytes(row, 'bytes')).digest('hex')
}
