/**
 * Tables of drafts that were accepted and are not published. They are the operator's, like `refs`: nothing of them is
 * ever published but counts and ages, and `daybook check` does not compare them. A draft is JSON in the form in which it
 * was sent.
 *
 * - `held`: drafts that wait. `id` is the order of acceptance. `chain` is `asked` while a blockchain decides, `final` or
 *   `vouched` afterwards, and `none` when no blockchain is asked. `place` is where the chain has the transaction,
 *   `vouch` the operator's reason, `reason` why the draft stays held.
 * - `settled`: drafts that will never be published. `state` is `failed` by the chain's word, `dropped` by the operator's.
 * - `vouched`: events whose transaction the operator called final in place of the chain.
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
`
