import type { DatabaseSync } from 'node:sqlite'
import { openAppender } from '../log/append.ts'
import { segmentsOf } from '../log/archive/stored-segments.ts'
import { LOT_COLUMNS } from '../log/store/codec.ts'
import { CONTEST_COLUMNS } from '../log/books/contest-rows.ts'
import { BULK_TXS } from '../log/store/store-schema.ts'
import { createStore, openForBulk, openForReading, readIdentity } from '../log/store/store.ts'
import { entryOfRow } from '../log/books/stored-repository.ts'
import { openStoredSigner } from '../log/tree/signed-trees.ts'
import { assert } from '../protocol/brand.ts'
import { errorMessage } from '../protocol/error-reason.ts'

/** Events appended between two reports of the progress. */
const BATCH_EVENTS = 5_000

/** Tables that can be computed from the log's lines, with the columns to compare. */
const COMPARED: readonly (readonly [table: string, columns: string])[] = [
  ['events', 'seq, at, code, contest, nonzero, line, leaf'],
  ['details', 'seq, line'],
  ['tx_events', 'seq, key'],
  ['tree_hashes', 'level * 1000000000000 + n, level, n, hash'],
  ['kinds', 'code, type, kind, first_seq'],
  ['totals', 'id, at, row, kinds'],
  ['week_sums', 'q, row'],
  ['contests', CONTEST_COLUMNS.join(', ')],
  ['contest_list', 'scheduled_seq, id, status, outcome, closes_at, pool, not_redeemed, words'],
  ['contest_words', 'word, scheduled_seq'],
  ['lots', `${LOT_COLUMNS}, open`],
  ['holds', 'contest, kind, seq, review_until'],
  ['unpaid', 'seq, contest, kind, terms, kots'],
  ['unpaid_sums', 'contest, kind, level, bucket, locked, claim, plain, overpaid'],
  ['takes', 'contest, seq, lot, amount'],
  ['prize_payouts', 'contest, kind, seq, at'],
  ['loyalty', 'month, body'],
  ['corrections', 'seq, correction, restatement'],
  ['prices', 'seq, price, cancelled'],
  ['standing', 'seq, price'],
  ['moves', 'seq, from_status, to_status'],
  ['months', 'month, first_seq, last_seq, events, closed, manifest'],
  ['segments', 'month, file, start, last_seq, raw_bytes, crc, bytes_crc, bytes'],
]

/** Table with rows that differ from those computed from the log's lines: how many, and the first. */
export type Difference = Readonly<{ table: string; rows: number; first: string }>

export type Recomputed = Readonly<{ events: number; differences: readonly Difference[] }>

/**
 * Publishes the lines of a store again into a second store, and compares every table of the two. A segment of a month
 * file only has to contain its lines, because versions of zlib compress differently. A line that cannot be published is
 * the only reported difference, because nothing after it can be computed. `scratch` is the path of the second store,
 * which the caller removes. Yields the number of finished events.
 */
export function* recompute(store: string, scratch: string): Generator<number, Recomputed> {
  const stored = openForReading(store)
  createStore(scratch, readIdentity(stored))
  const computed = openForBulk(scratch)
  try {
    stored.exec('BEGIN')
    const { events, broken } = yield* appendAll(stored, computed)
    stored.exec('COMMIT')
    if (broken !== null) return { events, differences: [broken] }
    computed.exec(BULK_TXS.move)
    // Bulk mode takes exclusive locks, even on the attached store, which others are reading.
    computed.exec('PRAGMA locking_mode = NORMAL')
    computed.exec(`ATTACH '${store.replaceAll("'", "''")}' AS stored`)
    const differences = COMPARED.flatMap(([table, columns]) => compare(computed, table, columns))
    return { events, differences }
  } finally {
    computed.close()
    stored.close()
  }
}

type AppendResult = Readonly<{ events: number; broken: Difference | null }>

/** Appends the lines up to the first that is no event or cannot follow its predecessors. */
function* appendAll(stored: DatabaseSync, computed: DatabaseSync): Generator<number, AppendResult> {
  const appender = openAppender(computed, openStoredSigner(stored), { segmentOf: segmentsOf(stored) })
  const rows = stored
    .prepare(
      'SELECT e.line AS line, d.line AS details FROM events e LEFT JOIN details d ON d.seq = e.seq ORDER BY e.seq',
    )
    .iterate()
  let done = 0
  appender.begin()
  for (const row of rows) {
    try {
      const { event, details } = entryOfRow(row)
      assert(event.seq === done + 1, `seq ${event.seq} follows ${done}`)
      appender.append({ ref: null, ...event, details }, null, event.atMs)
    } catch (error) {
      const reason = errorMessage(error)
      return { events: done, broken: { table: 'events', rows: 1, first: `seq ${done + 1} (${reason})` } }
    }
    done += 1
    if (done % BATCH_EVENTS === 0) {
      appender.write()
      yield done
    }
  }
  appender.write()
  appender.commit()
  return { events: done, broken: null }
}

/** Compares the rows of a table in both directions, so that extra rows are found too. */
function compare(db: DatabaseSync, table: string, columns: string): Difference[] {
  const key = columns.split(', ')[0] ?? ''
  const row = db
    .prepare(
      `SELECT count(*) AS rows, min(${key}) AS first FROM (
         SELECT * FROM (SELECT ${columns} FROM stored.${table} EXCEPT SELECT ${columns} FROM main.${table})
         UNION ALL
         SELECT * FROM (SELECT ${columns} FROM main.${table} EXCEPT SELECT ${columns} FROM stored.${table}))`,
    )
    .get()
  const rows = Number(row?.['rows'] ?? 0)
  return rows === 0 ? [] : [{ table, rows, first: `${key} ${String(row?.['first'])}` }]
}
