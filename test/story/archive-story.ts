import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { ARCHIVE_TABLES } from '../../src/log/store/archive-tables.ts'
import type { ArchiveWriter } from '../../src/log/archive/archive-writer.ts'
import { formatDetailsLine } from '../../src/protocol/details.ts'
import { formatEvent } from '../../src/protocol/event.ts'
import { type Ms, msOf } from '../../src/protocol/moment.ts'
import { type Seq, seqOf } from '../../src/protocol/seq.ts'
import { openSigner, type Signer } from '../../src/log/tree/signer.ts'
import { TEST_KEY } from './signing.ts'

/** An event as its line and its details line. */
export type ArchiveEvent = Readonly<{ seq: Seq; atMs: Ms; line: string; details: string | null }>

/** A trade without an amount; every seventh event has details. */
export function archiveEvent(seq: number, atMs: number): ArchiveEvent {
  const tx = createHash('sha512').update(String(seq)).digest('base64url')
  const line = formatEvent({
    seq: seqOf(seq),
    type: 'trade',
    kind: 'buy',
    atMs: msOf(atMs),
    contestId: null,
    kots: null,
    tx,
  })
  const details = seq % 7 === 0 ? formatDetailsLine(seqOf(seq), { reason: `täglich ${seq}` }) : null
  return { seq: seqOf(seq), atMs: msOf(atMs), line, details }
}

/** `count` events from `first` on, `stepMs` apart. */
export function archiveEvents(first: number, count: number, fromMs: number, stepMs: number): ArchiveEvent[] {
  return Array.from({ length: count }, (_, index) => archiveEvent(first + index, fromMs + index * stepMs))
}

/** A database in memory with the tables of events, details and the archive. */
export function openDatabase(): DatabaseSync {
  const db = new DatabaseSync(':memory:')
  db.exec(`
    CREATE TABLE events(seq INTEGER PRIMARY KEY, at INTEGER, code INTEGER, contest INTEGER, nonzero INTEGER, line TEXT);
    CREATE TABLE details(seq INTEGER PRIMARY KEY, line TEXT);
    ${ARCHIVE_TABLES}`)
  return db
}

/** A stand-in for the root of the first `size` events. The archive only signs it. */
export function rootOf(size: number): Uint8Array {
  return createHash('sha256').update(String(size)).digest()
}

/** Signs the months of these events. */
export const STORY_SIGNER: Signer = openSigner('daybook.example/log', [TEST_KEY])

/** Makes one commit: first the rows, then the archive, like the log's append. */
export function commit(
  db: DatabaseSync,
  writer: ArchiveWriter,
  events: readonly ArchiveEvent[],
  end = 'COMMIT',
): void {
  const event = db.prepare('INSERT INTO events VALUES (?, ?, 0, NULL, 0, ?)')
  const detail = db.prepare('INSERT INTO details VALUES (?, ?)')
  db.exec('BEGIN IMMEDIATE')
  for (const { seq, atMs, line, details } of events) {
    event.run(seq, atMs, line)
    if (details !== null) detail.run(seq, details)
    writer.add({ seq, atMs }, () => rootOf(seq - 1))
  }
  writer.flush()
  db.exec(end)
}
