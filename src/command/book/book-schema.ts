import { type BookTable, BOOK_DETAILS, BOOK_EVENTS, BOOK_TABLES } from './book-tables.ts'

/** `PRAGMA application_id` of a book: `DayB` in ASCII. */
export const BOOK_APPLICATION_ID = 0x44617942
/** `PRAGMA user_version` of a book: the form of its tables. Another form is built anew by another `pull`. */
export const BOOK_FORM = 1

/** A view over the tables of a book, for questions that many readers have. */
type BookView = Readonly<{ name: string; meaning: string; sql: string }>

const MOVED = 'seq, type, kind, at, atMs, contestId, kots, kotsWhole, kotsBillionths, tx'
/** Columns of an event that corrects `cancelled`, with the type and kind of that one. */
const REVERSED =
  'e.seq, cancelled.type, cancelled.kind, e.at, e.atMs, e.contestId, e.kots, e.kotsWhole, e.kotsBillionths, e.tx'
const CORRECTIONS = `FROM details d
JOIN events e ON e.seq = d.seq
JOIN events cancelled ON cancelled.seq = d.corrects`

/** Advice for exact sums, a comment of the view `counted`. */
const EXACT_SUMS = `Amounts are text with nine decimals, because SQLite has no exact decimals. An exact sum, which is not negative:
  printf('%d.%09d', sum(kotsWhole) + sum(kotsBillionths) / 1000000000, sum(kotsBillionths) % 1000000000)
A sum that may be negative has its sign in both parts. For another column with an amount, kotsWhole is
CAST(kots AS INTEGER), and kotsBillionths is CAST(substr(kots, -9) AS INTEGER), negative when the amount is.
SQLite reports an overflow beyond 9.2e18 whole tokens, and never gives a wrong sum.`

const VIEWS: readonly BookView[] = [
  {
    name: 'corrections',
    meaning:
      'Corrections, with the type and kind of the event that each cancels and the seq that replaces it',
    sql: `SELECT e.seq, cancelled.type, cancelled.kind, e.at, e.atMs, e.contestId, e.kots, d.corrects, d.reason,
  (SELECT r.seq FROM details r WHERE r.restates = d.corrects) AS restatedBy
${CORRECTIONS}
WHERE d.corrects IS NOT NULL`,
  },
  {
    name: 'counted',
    meaning:
      'Events as figures count them: a correction has a negative amount, and the type and kind of the event that it cancels',
    sql: `/* ${EXACT_SUMS} */
SELECT ${MOVED}, NULL AS corrects FROM events WHERE type <> 'correction'
UNION ALL
SELECT ${REVERSED}, d.corrects
${CORRECTIONS}
WHERE d.corrects IS NOT NULL`,
  },
  {
    name: 'payments',
    meaning:
      'Payouts, refunds and loyalty rewards, with the contest’s title. The correction of one is a row too, below zero, so that sums are what was paid. cancelledBy is the seq of that correction',
    sql: `SELECT e.seq, e.at, e.atMs, e.contestId, c.title, e.kind, e.kots, e.kotsWhole, e.kotsBillionths, e.tx,
  NULL AS corrects, (SELECT d.seq FROM details d WHERE d.corrects = e.seq) AS cancelledBy, own.restates, own.month
FROM events e
LEFT JOIN contests c ON c.id = e.contestId
LEFT JOIN details own ON own.seq = e.seq
WHERE e.type = 'payout'
UNION ALL
SELECT e.seq, e.at, e.atMs, e.contestId, c.title, cancelled.kind, e.kots, e.kotsWhole, e.kotsBillionths, e.tx,
  d.corrects, NULL, NULL, (SELECT own.month FROM details own WHERE own.seq = d.corrects)
${CORRECTIONS}
LEFT JOIN contests c ON c.id = e.contestId
WHERE d.corrects IS NOT NULL AND cancelled.type = 'payout'`,
  },
  {
    name: 'unpaid',
    meaning:
      'Prizes that are unpaid or overpaid, with the reason at the moment of the newest event, as in `/payouts`',
    sql: `SELECT seq, contestId, title, kind, kots,
  CASE
    WHEN kots LIKE '-%' THEN 'overpaid'
    WHEN unlocksAtMs > nowMs THEN 'locked'
    WHEN reviewUntilMs > nowMs THEN 'in_review'
    WHEN claim THEN 'awaiting_claim'
    ELSE 'payable'
  END AS status,
  at, atMs, unlocksAt, unlocksAtMs, reviewUntil, reviewUntilMs,
  max(coalesce(unlocksAt, reviewUntil, at), coalesce(reviewUntil, unlocksAt, at)) AS availableAt,
  max(coalesce(unlocksAtMs, reviewUntilMs, atMs), coalesce(reviewUntilMs, unlocksAtMs, atMs)) AS availableAtMs
FROM (
  SELECT p.seq, p.contestId, c.title, p.kind, p.unpaid AS kots, p.claim, p.at, p.atMs, p.unlocksAt, p.unlocksAtMs,
    iif(h.seq IS NULL, p.reviewUntil, h.reviewUntil) AS reviewUntil,
    iif(h.seq IS NULL, p.reviewUntilMs, h.reviewUntilMs) AS reviewUntilMs,
    (SELECT e.atMs FROM events e ORDER BY e.seq DESC LIMIT 1) AS nowMs
  FROM prizes p
  LEFT JOIN contests c ON c.id = p.contestId
  LEFT JOIN holds h ON h.contestId = p.contestId AND h.kind = p.kind AND h.seq > p.heldFrom AND p.unpaid NOT LIKE '-%'
  WHERE p.unpaid <> '0.000000000'
)`,
  },
]

/** Indexes that `pull` itself needs while it reads the log. */
const OWN_INDEXES: readonly string[] = [
  'CREATE INDEX details_corrects ON details (corrects) WHERE corrects IS NOT NULL',
  'CREATE INDEX details_restates ON details (restates) WHERE restates IS NOT NULL',
  'CREATE INDEX details_price ON details (seq) WHERE price IS NOT NULL',
  'CREATE INDEX prizes_contest ON prizes (contestId, kind)',
  "CREATE INDEX prizes_unpaid ON prizes (contestId, kind) WHERE unpaid <> '0.000000000'",
  'CREATE INDEX prize_payments_prize ON prize_payments (prize)',
]

/** Indexes for readers. They are made when the log has been read, which is faster than during it. */
export const READERS_INDEXES: readonly string[] = [
  'CREATE INDEX IF NOT EXISTS events_type ON events (type, kind)',
  'CREATE INDEX IF NOT EXISTS events_contest ON events (contestId, type) WHERE contestId IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS events_tx ON events (tx) WHERE tx IS NOT NULL',
]

/** Published events never change, so an edit by mistake is refused. `verify` finds every other one. */
const GUARDS: readonly string[] = [BOOK_EVENTS, BOOK_DETAILS].flatMap(({ name }) =>
  ['UPDATE', 'DELETE'].map(
    (change) =>
      `CREATE TRIGGER ${name}_${change.toLowerCase()} BEFORE ${change} ON ${name} BEGIN SELECT RAISE(ABORT, '${name} are those of the signed log, and never change'); END`,
  ),
)

/** Statements that make the tables of an empty book. Their comments stay in the file, where `.schema` shows them. */
export const BOOK_SCHEMA: readonly string[] = [
  `PRAGMA application_id = ${BOOK_APPLICATION_ID}`,
  `PRAGMA user_version = ${BOOK_FORM}`,
  `CREATE TABLE book (
  name TEXT PRIMARY KEY, -- What the value is of
  value TEXT NOT NULL -- log and origin: the names of the log. checkpoint: its signed tree, which proves the rows
) STRICT`,
  `CREATE TABLE book_state (
  name TEXT PRIMARY KEY, -- Sums from which the next pull goes on; not for readers
  value TEXT NOT NULL
) STRICT`,
  ...BOOK_TABLES.map(createTable),
  ...VIEWS.map(({ name, meaning, sql }) => `CREATE VIEW ${name} AS -- ${meaning}\n${sql}`),
  ...OWN_INDEXES,
  ...GUARDS,
]

function createTable({ name, meaning, columns, key }: BookTable): string {
  const isRowid = key.length === 1 && columns.find((one) => one.name === key[0])?.type === 'INTEGER'
  const lines = columns.map((one, index) => {
    const ending = index === columns.length - 1 && isRowid ? '' : ','
    const constraint = isRowid && one.name === key[0] ? ' PRIMARY KEY' : one.optional ? '' : ' NOT NULL'
    return `  ${quoted(one.name)} ${one.type}${constraint}${ending} -- ${one.meaning}`
  })
  const last = isRowid ? [] : [`  PRIMARY KEY (${key.map(quoted).join(', ')})`]
  return `CREATE TABLE ${name} ( -- ${meaning}\n${[...lines, ...last].join('\n')}\n) STRICT${isRowid ? '' : ', WITHOUT ROWID'}`
}

/** Name of a column in SQL. */
function quoted(name: string): string {
  return /^\w+$/.test(name) ? name : `"${name}"`
}
