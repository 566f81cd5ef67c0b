import { ARCHIVE_TABLES } from './archive-tables.ts'

/** Version of the tables, raised when they change. `daybook upgrade` brings a store of an older version to this one. */
export const SCHEMA_VERSION = 15
/** First version of Daybook that reads `SCHEMA_VERSION`. A store names it, so that an older Daybook can report it. */
export const SCHEMA_NEEDS = '0.1.0'
/** The oldest schema that `daybook upgrade` reads. Those before it belong to clones from before the first release. */
export const OLDEST_SCHEMA = 13

/**
 * Indexes of `events`, which end with the seq. They find the events of types and kinds, and of contests. A bulk import
 * drops them and creates them again at its end.
 */
export const EVENT_INDEXES = {
  drop: 'DROP INDEX events_code; DROP INDEX events_contest',
  create: `CREATE INDEX events_code ON events (code);
CREATE INDEX events_contest ON events (contest, code) WHERE contest IS NOT NULL`,
} as const

/** Table that finds events by their transactions, in order of key. */
const TX_TABLE =
  'CREATE TABLE tx_events (key INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (key, seq)) STRICT, WITHOUT ROWID'

/**
 * The same table while an upgrade builds a store, in order of seq, because keys are in random order. `sort` makes the
 * final table from it. It is kept when the build is interrupted, unlike the tables of a bulk import.
 */
export const BUILDING_TXS: Readonly<{ gather: string; sort: string }> = {
  gather:
    'DROP TABLE tx_events; CREATE TABLE tx_events (seq INTEGER PRIMARY KEY, key INTEGER NOT NULL) STRICT',
  sort: `ALTER TABLE tx_events RENAME TO gathered_txs; ${TX_TABLE};
    INSERT INTO tx_events (key, seq) SELECT key, seq FROM gathered_txs ORDER BY key, seq; DROP TABLE gathered_txs`,
}

/**
 * Tables of drafts that were accepted and are not published. They are the operator's, like `refs`: nothing of them is
 * ever published but counts and ages, and `daybook check` compares them only with each other. A draft is JSON in the form
 * in which it was sent.
 *
 * - `held`: drafts that wait. `id` is the order of acceptance. `chain` is `asked` while a blockchain decides, `final` or
 *   `vouched` afterwards, and `none` when no blockchain is asked. `place` is where the chain has the transaction,
 *   `vouch` the operator's reason, `reason` why the draft stays held.
 * - `settled`: drafts that will never be published. `state` is `failed` by the chain's verdict, `dropped` by the operator's decision.
 * - `vouched`: events whose transaction the operator called final in place of the chain.
 * - `held_counts`: one row with the numbers of rows above. Triggers keep it in the transaction of the change, so a reader
 *   counts in constant time, and no statement that moves a draft can forget it. `version` rises with every change.
 */
const HELD_TABLES = `
CREATE TABLE held (
  id INTEGER PRIMARY KEY AUTOINCREMENT, ref TEXT NOT NULL UNIQUE, draft TEXT NOT NULL, accepted_at INTEGER NOT NULL,
  chain TEXT NOT NULL, place TEXT, settled_at INTEGER, vouch TEXT, reason TEXT
) STRICT;
CREATE TABLE settled (
  id INTEGER PRIMARY KEY, ref TEXT NOT NULL UNIQUE, draft TEXT NOT NULL, accepted_at INTEGER NOT NULL,
  state TEXT NOT NULL, settled_at INTEGER NOT NULL, place TEXT, reason TEXT NOT NULL
) STRICT;
CREATE TABLE vouched (seq INTEGER PRIMARY KEY, reason TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
CREATE INDEX settled_state ON settled (state);
CREATE TABLE held_counts (
  id INTEGER PRIMARY KEY, held INTEGER NOT NULL, refused INTEGER NOT NULL, failed INTEGER NOT NULL,
  dropped INTEGER NOT NULL, vouched INTEGER NOT NULL, version INTEGER NOT NULL
) STRICT;
INSERT INTO held_counts VALUES (1, 0, 0, 0, 0, 0, 0);
CREATE TRIGGER held_added AFTER INSERT ON held BEGIN
  UPDATE held_counts SET held = held + 1, refused = refused + (new.reason IS NOT NULL), version = version + 1;
END;
CREATE TRIGGER held_removed AFTER DELETE ON held BEGIN
  UPDATE held_counts SET held = held - 1, refused = refused - (old.reason IS NOT NULL), version = version + 1;
END;
CREATE TRIGGER held_judged AFTER UPDATE OF reason ON held BEGIN
  UPDATE held_counts SET refused = refused + (new.reason IS NOT NULL) - (old.reason IS NOT NULL), version = version + 1;
END;
CREATE TRIGGER settled_added AFTER INSERT ON settled BEGIN
  UPDATE held_counts SET failed = failed + (new.state = 'failed'), dropped = dropped + (new.state = 'dropped'),
    version = version + 1;
END;
CREATE TRIGGER vouched_added AFTER INSERT ON vouched BEGIN
  UPDATE held_counts SET vouched = vouched + 1, version = version + 1;
END;
`

/**
 * The store's tables. `events` and `details` are the log. All others can be recomputed from them, as `daybook check`
 * does, except `refs`, `signing_keys`, `messages`, signatures and the tables of held drafts (`HELD_TABLES`). `refs`
 * are the operator's and never published.
 *
 * - `events`: `leaf` is the event's hash in the tree. `signature` is set on the last event of a commit (`signer.ts`).
 *   Both share the event's page, so they cost a commit no further page.
 * - `tree_hashes`: hash `n` of tile level 1 and up.
 * - `contest_list`, `contest_words`: contests as of the last seq that `LIST_EVENTS` divides, for searching and sorting.
 *   Amounts are as in `amount-key.ts`, words as in `contest-words.ts`.
 * - `takes`: a row with lot 0 marks an event as a payout of the contest. The other rows say what the event took from
 *   which lot, and lie on the same page.
 * - `prize_payouts`: payouts of prizes, without those that are corrected.
 * - `unpaid_sums`: contest 0 is the sum over all contests, and an empty kind the sum over all kinds.
 * - `messages`: the newest rows of the table that carries the log, when one does.
 * - `totals`: ids as in `totals-rows.ts`. `tx_events`: keys as in `tx-index.ts`.
 */
export const TABLES: string = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, code INTEGER NOT NULL, contest INTEGER,
  nonzero INTEGER NOT NULL, line TEXT NOT NULL, leaf BLOB NOT NULL, signature BLOB
) STRICT;
${EVENT_INDEXES.create};
CREATE TABLE details (seq INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT;
CREATE TABLE refs (ref TEXT PRIMARY KEY, seq INTEGER NOT NULL, digest BLOB NOT NULL) STRICT, WITHOUT ROWID;

${TX_TABLE};

CREATE TABLE tree_hashes (
  level INTEGER NOT NULL, n INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (level, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE signing_keys (
  vkey TEXT PRIMARY KEY, from_size INTEGER NOT NULL, to_size INTEGER, statement TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE kinds (
  code INTEGER PRIMARY KEY, type TEXT NOT NULL, kind TEXT NOT NULL, first_seq INTEGER NOT NULL, UNIQUE (type, kind)
) STRICT;
CREATE TABLE totals (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, row BLOB NOT NULL, kinds BLOB NOT NULL) STRICT;
CREATE TABLE week_sums (q INTEGER PRIMARY KEY, row BLOB NOT NULL) STRICT;
CREATE TABLE contests (
  id INTEGER PRIMARY KEY, title TEXT, status TEXT NOT NULL, opens_at INTEGER NOT NULL, closes_at INTEGER,
  opened_at INTEGER, closed_at INTEGER, paid_at INTEGER, cancelled_at INTEGER,
  entries TEXT NOT NULL, plays TEXT NOT NULL, spent TEXT NOT NULL,
  scheduled_seq INTEGER NOT NULL UNIQUE, last_seq INTEGER NOT NULL, outcome TEXT, sums TEXT NOT NULL
) STRICT;
CREATE INDEX contests_status ON contests (status, outcome, scheduled_seq);
CREATE INDEX contests_closed ON contests (closed_at, scheduled_seq) WHERE closed_at IS NOT NULL;
CREATE TABLE contest_list (
  scheduled_seq INTEGER PRIMARY KEY, id INTEGER NOT NULL, status TEXT NOT NULL, outcome TEXT,
  closes_at INTEGER NOT NULL, pool TEXT NOT NULL, not_redeemed TEXT NOT NULL, words TEXT NOT NULL
) STRICT;
CREATE INDEX contest_list_newest ON contest_list (status, outcome, scheduled_seq);
CREATE INDEX contest_list_closes_at ON contest_list (status, outcome, closes_at, scheduled_seq);
CREATE INDEX contest_list_pool ON contest_list (status, outcome, pool, scheduled_seq);
CREATE INDEX contest_list_not_redeemed ON contest_list (status, outcome, not_redeemed, scheduled_seq);
CREATE TABLE contest_words (
  word TEXT NOT NULL, scheduled_seq INTEGER NOT NULL, PRIMARY KEY (word, scheduled_seq)
) STRICT, WITHOUT ROWID;
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
CREATE INDEX unpaid_kind ON unpaid (kind);
CREATE INDEX unpaid_contest_kind ON unpaid (contest, kind);
CREATE TABLE unpaid_sums (
  contest INTEGER NOT NULL, kind TEXT NOT NULL, level INTEGER NOT NULL, bucket INTEGER NOT NULL,
  locked ANY, claim ANY, plain ANY, overpaid ANY,
  PRIMARY KEY (contest, kind, level, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE takes (
  contest INTEGER NOT NULL, seq INTEGER NOT NULL, lot INTEGER NOT NULL, amount TEXT, PRIMARY KEY (contest, seq, lot)
) STRICT, WITHOUT ROWID;
CREATE TABLE prize_payouts (
  contest INTEGER NOT NULL, kind TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (contest, kind, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE loyalty (month TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE corrections (seq INTEGER PRIMARY KEY, correction INTEGER NOT NULL, restatement INTEGER) STRICT;
CREATE TABLE prices (seq INTEGER PRIMARY KEY, price TEXT NOT NULL, cancelled INTEGER NOT NULL) STRICT;
CREATE TABLE standing (seq INTEGER PRIMARY KEY, price TEXT) STRICT;
CREATE TABLE moves (seq INTEGER PRIMARY KEY, from_status TEXT, to_status TEXT NOT NULL) STRICT;
CREATE TABLE messages (place INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
${ARCHIVE_TABLES}${HELD_TABLES}`

/**
 * Temporary table for the refs of a bulk import, in order of seq. It hides the store's table of the same name on this
 * connection. `move` sorts the refs once and writes them to the store's table, which is ordered by ref.
 */
export const BULK_REFS = {
  gather: 'CREATE TEMP TABLE refs (seq INTEGER PRIMARY KEY, ref TEXT NOT NULL, digest BLOB NOT NULL) STRICT',
  index: 'CREATE UNIQUE INDEX IF NOT EXISTS temp.refs_ref ON refs (ref)',
  move: `INSERT INTO main.refs (ref, seq, digest) SELECT ref, seq, digest FROM temp.refs ORDER BY ref;
    DROP TABLE temp.refs`,
} as const

/** The same for transactions, whose keys are in random order. */
export const BULK_TXS = {
  gather: 'CREATE TEMP TABLE tx_events (seq INTEGER PRIMARY KEY, key INTEGER NOT NULL) STRICT',
  move: `INSERT INTO main.tx_events (key, seq) SELECT key, seq FROM temp.tx_events ORDER BY key, seq;
    DROP TABLE temp.tx_events`,
} as const
