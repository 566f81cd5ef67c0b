import type { DatabaseSync } from 'node:sqlite'
import { verifierKeyOf } from '../../src/log/tree/signer.ts'
import { flip, NEW_LOG, rebuildTree, signAgain } from './damaged-log.ts'
import { OTHER_KEY } from './signing.ts'
import { formatVkey } from '../../src/tlog/note.ts'

/** Events of the log to be damaged. */
export const EVENTS = 700
/** The last seqs of its commits, which have one to seven events each. */
export const ENDS: readonly number[] = Array.from({ length: 175 }, (_, index) => {
  const [rounds, more] = [Math.floor(index / 7), (index % 7) + 1]
  return rounds * 28 + (more * (more + 1)) / 2
})

/** The first seq of the commit with this event. */
function commitOf(seq: number): number {
  return Math.max(0, ...ENDS.filter((end) => end < seq)) + 1
}

/** The last seq of the commit before. */
function endBefore(seq: number): number {
  return commitOf(seq) - 1
}

/** A damage to a store, and the seqs that are named for it. */
type StoreDamage = Readonly<{
  name: string
  damage(db: DatabaseSync): void
  /** The seq that a start names; null when only a check of the whole log finds it. */
  start: number | null
  /** The seq that `check` names. */
  check: number
}>

const setLine = (db: DatabaseSync, seq: number): void =>
  void db.prepare(`UPDATE events SET line = replace(line, '"at":"2026', '"at":"2025') WHERE seq = ?`).run(seq)
const swap = (db: DatabaseSync, columns: string): void =>
  db.exec(`UPDATE events SET (${columns}) = (SELECT ${columns.replaceAll(/\w+/g, 'o.$&')} FROM (SELECT * FROM events
    WHERE seq IN (601, 603)) o WHERE o.seq = 1204 - events.seq) WHERE seq IN (601, 603)`)
const otherVkey = formatVkey(verifierKeyOf(NEW_LOG.origin, OTHER_KEY.publicKey))

// A start checks the newest 256 events: 445 and later.
export const DAMAGES: readonly StoreDamage[] = [
  {
    name: 'a flipped bit in a new line',
    damage: (db) => flip(db, 'events', 'line', 'seq = 600'),
    start: 600,
    check: 600,
  },
  {
    name: 'a flipped bit in an old line',
    damage: (db) => flip(db, 'events', 'line', 'seq = 99'),
    start: null,
    check: 99,
  },
  {
    name: 'a flipped bit in new details',
    damage: (db) => flip(db, 'details', 'line', 'seq = 602'),
    start: 602,
    check: 602,
  },
  {
    name: 'a flipped bit in old details',
    damage: (db) => flip(db, 'details', 'line', 'seq = 98'),
    start: null,
    check: 98,
  },
  {
    name: 'removed details',
    damage: (db) => db.exec('DELETE FROM details WHERE seq = 602'),
    start: 602,
    check: 602,
  },
  {
    name: 'invented details',
    damage: (db) => db.exec("INSERT INTO details VALUES (603, '{}')"),
    start: 603,
    check: 603,
  },
  {
    name: 'a flipped bit in a new leaf',
    damage: (db) => flip(db, 'events', 'leaf', 'seq = 601'),
    start: 601,
    check: 601,
  },
  {
    name: 'a flipped bit in an old leaf',
    damage: (db) => flip(db, 'events', 'leaf', 'seq = 101'),
    start: null,
    check: 101,
  },
  {
    name: 'a line longer than an entry can be',
    damage: (db) => db.exec("UPDATE events SET line = printf('%070000d', 7) WHERE seq = 610"),
    start: 610,
    check: 610,
  },
  {
    name: 'a flipped bit in the tree',
    damage: (db) => flip(db, 'tree_hashes', 'hash', 'level = 1 AND n = 0'),
    start: commitOf(256),
    check: commitOf(256),
  },
  {
    name: 'a removed hash of the tree',
    damage: (db) => db.exec('DELETE FROM tree_hashes WHERE level = 1 AND n = 1'),
    start: commitOf(512),
    check: commitOf(512),
  },
  {
    name: 'a flipped bit in the newest signature',
    damage: (db) => flip(db, 'events', 'signature', `seq = ${EVENTS}`),
    start: commitOf(EVENTS),
    check: commitOf(EVENTS),
  },
  {
    name: 'a flipped bit in an old signature',
    damage: (db) => flip(db, 'events', 'signature', `seq = ${ENDS[40]}`),
    start: null,
    check: commitOf(ENDS[40] ?? 0),
  },
  {
    name: 'a removed newest signature',
    damage: (db) => db.exec(`UPDATE events SET signature = NULL WHERE seq = ${EVENTS}`),
    start: commitOf(EVENTS),
    check: commitOf(EVENTS),
  },
  {
    name: 'a flipped bit in a month’s checkpoint',
    damage: (db) =>
      db.exec(`UPDATE months SET manifest = json_replace(manifest, '$.checkpoint',
        replace(manifest ->> 'checkpoint', char(10) || '300' || char(10), char(10) || '301' || char(10))) WHERE month = '2026-01'`),
    start: null,
    check: commitOf(300),
  },
  {
    name: 'a malformed manifest of a month',
    damage: (db) => db.exec("UPDATE months SET manifest = '{' WHERE month = '2026-01'"),
    start: null,
    check: commitOf(300),
  },
  {
    name: 'a changed new event and leaf',
    damage(db) {
      setLine(db, 600)
      rebuildTree(db, 600, [])
    },
    start: commitOf(600),
    check: commitOf(600),
  },
  {
    name: 'a changed old event and leaf',
    damage(db) {
      setLine(db, 100)
      rebuildTree(db, 100, [])
    },
    start: null,
    check: commitOf(100),
  },
  {
    name: 'a changed old event and tree, without the key',
    damage(db) {
      setLine(db, 100)
      rebuildTree(db, 100, [1])
    },
    start: commitOf(100),
    check: commitOf(100),
  },
  {
    name: 'a changed old event and tree, signed with another key',
    damage(db) {
      setLine(db, 100)
      rebuildTree(db, 100, [1])
      signAgain(db, 100, OTHER_KEY)
    },
    start: commitOf(100),
    check: commitOf(100),
  },
  {
    name: 'a changed new event and tree, signed with another key that is listed',
    damage(db) {
      setLine(db, 650)
      rebuildTree(db, 650, [1])
      db.prepare('INSERT INTO signing_keys VALUES (?, 0, NULL, NULL)').run(otherVkey)
      signAgain(db, 650, OTHER_KEY)
    },
    start: commitOf(650),
    check: commitOf(650),
  },
  { name: 'two swapped lines', damage: (db) => swap(db, 'line'), start: 601, check: 601 },
  {
    name: 'two swapped events and leaves',
    damage: (db) => swap(db, 'line, leaf'),
    // The closed months end with a signature too, here within the commit.
    start: 601,
    check: commitOf(601),
  },
  {
    name: 'a removed new event',
    damage: (db) => db.exec('DELETE FROM events WHERE seq = 650'),
    start: 650,
    check: 650,
  },
  {
    name: 'a removed old event',
    damage: (db) => db.exec('DELETE FROM events WHERE seq = 100'),
    start: null,
    check: 100,
  },
  {
    name: 'an inserted event',
    damage: (db) =>
      db.exec(`UPDATE details SET seq = -seq - 1 WHERE seq > 650; UPDATE details SET seq = -seq WHERE seq < 0;
        UPDATE events SET seq = -seq - 1 WHERE seq > 650; UPDATE events SET seq = -seq WHERE seq < 0;
        INSERT INTO events SELECT 651, at, code, contest, nonzero, line, leaf, NULL FROM events WHERE seq = 649`),
    start: commitOf(651),
    check: commitOf(651),
  },
  {
    name: 'an appended event',
    damage: (db) =>
      db.exec(
        'INSERT INTO events SELECT 701, at, code, contest, nonzero, line, leaf, NULL FROM events WHERE seq = 699',
      ),
    start: 701,
    check: 701,
  },
  {
    name: 'two appended events',
    damage: (db) =>
      db.exec(`INSERT INTO events SELECT seq + 6, at, code, contest, nonzero, line, leaf, NULL FROM events
        WHERE seq IN (695, 697); UPDATE events SET seq = 702 WHERE seq = 703`),
    start: 701,
    check: 701,
  },
  {
    name: 'a cut within a commit',
    damage: (db) => db.exec('DELETE FROM events WHERE seq > 698; DELETE FROM details WHERE seq > 698'),
    start: commitOf(698),
    check: commitOf(698),
  },
  {
    name: 'a cut between commits',
    damage: (db) => db.exec(`DELETE FROM events WHERE seq > ${endBefore(EVENTS)}`),
    start: commitOf(EVENTS),
    check: commitOf(EVENTS),
  },
  {
    name: 'no events left',
    damage: (db) => db.exec('DELETE FROM events; DELETE FROM details'),
    start: 1,
    check: 1,
  },
]
