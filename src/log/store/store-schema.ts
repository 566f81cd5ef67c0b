import { ARCHIVE_TABLES } from './archive-tables.ts'

/** Raised when the tables change; a store with a higher one was made by a newer Daybook and is not touched. */
export const SCHEMA_VERSION = 9

/**
 * The store's tables. `events` and `details` are the log itself; everything below them can be recomputed from
 * it (`daybook check` does), but `refs`, which are the operator's and never published, and `signing_keys`. Of an
 * event, `leaf` is its hash in the tree, and `signature`, on the last event of a commit, what was signed of the tree
 * up to it (`signer.ts`): beside the event they cost a commit no page of their own. `tree_hashes` holds hash `n` of
 * the tiles' levels from 1 on. In `takes`, lot 0 tells of an event that it is one of the contest's payouts; what it took
 * of which lot follows it on the same page. In `unpaid_sums`, contest 0 stands for all contests. The ids of `totals` are those of `totals-rows.ts`, the keys of `tx_events`
 * those of `tx-index.ts`.
 */
export const TABLES: string = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, code INTEGER NOT NULL, contest INTEGER,
  nonzero INTEGER NOT NULL, line TEXT NOT NULL, leaf BLOB NOT NULL, signature BLOB
) STRICT;
CREATE TABLE details (seq INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT;
CREATE TABLE refs (ref TEXT PRIMARY KEY, seq INTEGER NOT NULL, digest BLOB NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE tx_events (key INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (key, seq)) STRICT, WITHOUT ROWID;

CREATE TABLE tree_hashes (
  level INTEGER NOT NULL, n INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (level, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE signing_keys (
  vkey TEXT PRIMARY KEY, from_size INTEGER NOT NULL, to_size INTEGER, statement TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE kinds (
  code INTEGER PRIMARY KEY, type TEXT NOT NULL, kind TEXT NOT NULL, first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  UNIQUE (type, kind)
) STRICT;
CREATE TABLE totals (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, row BLOB NOT NULL) STRICT;
CREATE TABLE week_sums (q INTEGER PRIMARY KEY, row BLOB NOT NULL) STRICT;
CREATE TABLE contests (
  id INTEGER PRIMARY KEY, title TEXT, status TEXT NOT NULL, opens_at INTEGER NOT NULL, closes_at INTEGER NOT NULL,
  opened_at INTEGER, closed_at INTEGER, paid_at INTEGER, pool TEXT NOT NULL, entries TEXT NOT NULL, plays TEXT NOT NULL,
  spent TEXT NOT NULL, owed TEXT NOT NULL, redeemed TEXT NOT NULL, not_redeemed TEXT NOT NULL,
  scheduled_seq INTEGER NOT NULL UNIQUE, last_seq INTEGER NOT NULL, sums TEXT NOT NULL
) STRICT;
CREATE INDEX contests_status ON contests (status, scheduled_seq);
CREATE TABLE lots (
  seq INTEGER PRIMARY KEY, contest INTEGER NOT NULL, kind TEXT NOT NULL, open INTEGER, at INTEGER NOT NULL,
  amount TEXT NOT NULL, unpaid TEXT NOT NULL, unlocks_at INTEGER, review_until INTEGER, held_from INTEGER,
  claim INTEGER NOT NULL
) STRICT;
CREATE INDEX lots_open ON lots (contest, kind) WHERE open IS NOT NULL;
CREATE TABLE holds (
  contest INTEGER NOT NULL, kind TEXT NOT NULL, seq INTEGER NOT NULL, review_until INTEGER NOT NULL,
  PRIMARY KEY (contest, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE unpaid (
  seq INTEGER PRIMARY KEY, contest INTEGER NOT NULL, kind TEXT NOT NULL, terms TEXT NOT NULL, kots TEXT NOT NULL
) STRICT;
CREATE INDEX unpaid_contest ON unpaid (contest);
CREATE TABLE unpaid_sums (
  contest INTEGER NOT NULL, level INTEGER NOT NULL, bucket INTEGER NOT NULL,
  locked ANY, claim ANY, plain ANY, overpaid ANY,
  PRIMARY KEY (contest, level, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE takes (
  contest INTEGER NOT NULL, seq INTEGER NOT NULL, lot INTEGER NOT NULL, amount TEXT, PRIMARY KEY (contest, seq, lot)
) STRICT, WITHOUT ROWID;
CREATE TABLE loyalty (month TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE corrections (seq INTEGER PRIMARY KEY, correction INTEGER NOT NULL, restatement INTEGER) STRICT;
CREATE TABLE prices (seq INTEGER PRIMARY KEY, price TEXT NOT NULL, cancelled INTEGER NOT NULL) STRICT;
CREATE TABLE standing (seq INTEGER PRIMARY KEY, price TEXT) STRICT;
CREATE TABLE moves (seq INTEGER PRIMARY KEY, from_status TEXT, to_status TEXT NOT NULL) STRICT;
${ARCHIVE_TABLES}`

/**
 * The refs of a bulk import, in the order of their events, on its connection only. By its name it stands before the
 * store's own table, which has them in the order of their characters and takes them last, in one sort.
 */
export const BULK_REFS = {
  gather: 'CREATE TEMP TABLE refs (seq INTEGER PRIMARY KEY, ref TEXT NOT NULL, digest BLOB NOT NULL) STRICT',
  index: 'CREATE UNIQUE INDEX IF NOT EXISTS temp.refs_ref ON refs (ref)',
  move: `INSERT INTO main.refs (ref, seq, digest) SELECT ref, seq, digest FROM temp.refs ORDER BY ref;
    DROP TABLE temp.refs`,
} as const

/** Likewise the transactions of a bulk import, whose keys come in no order at all. */
export const BULK_TXS = {
  gather: 'CREATE TEMP TABLE tx_events (seq INTEGER PRIMARY KEY, key INTEGER NOT NULL) STRICT',
  move: `INSERT INTO main.tx_events (key, seq) SELECT key, seq FROM temp.tx_events ORDER BY key, seq;
    DROP TABLE temp.tx_events`,
} as const
