/**
 * Tables of drafts that were accepted and are not published. They are the operator's, like `refs`: nothing of them is
 * ever published but counts and ages, and `daybook check` compares them only with each other. A draft is JSON in the form
 * in which it was sent.
 *
 * - `held`: drafts that wait. `id` is the order of acceptance. `chain` is `asked` while a blockchain decides, `final` or
 *   `vouched` afterwards, and `none` when no blockchain is asked. `place` is where the chain has the transaction,
 *   `vouch` the operator's reason, `reason` why the draft stays held.
 * - `settled`: drafts that will never be published. `state` is `failed` by the chain's word, `dropped` by the operator's.
 * - `vouched`: events whose transaction the operator called final in place of the chain.
 * - `held_counts`: one row with the numbers of rows above. Triggers keep it in the transaction of the change, so a reader
 *   counts in constant time, and no statement that moves a draft can forget it. `version` rises with every change.
 */
export const HELD_TABLES = `
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
