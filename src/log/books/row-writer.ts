import type { DatabaseSync } from 'node:sqlite'
import { ZERO } from '../../protocol/amount.ts'
import type { DaybookEvent } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { LevelHash } from '../../tlog/frontier.ts'
import type { Hash } from '../../tlog/hash.ts'
import { number, text } from '../store/codec.ts'
import { txKey } from '../store/tx-index.ts'
import { isListedPayout } from '../../protocol/rules.ts'

/** Rows that a batch inserts. They are collected while the batch is appended, then written together. */
export type WaitingRows = Readonly<{
  events: { event: DaybookEvent; line: string; leaf: Hash; signature: Uint8Array | null }[]
  treeHashes: LevelHash[]
  details: [seq: Seq, line: string][]
  refs: Map<string, { seq: Seq; digest: Uint8Array }>
  totals: { id: number; atMs: Ms; row: Uint8Array; kinds: Uint8Array }[]
  weeks: [q: Ms, row: Uint8Array][]
}>

export function noRows(): WaitingRows {
  return { events: [], treeHashes: [], details: [], refs: new Map(), totals: [], weeks: [] }
}

/** Opens the writer of rows, which works in the log's transaction. `reload` must be called after a rollback. */
export function openRowWriter(
  db: DatabaseSync,
): Readonly<{ write(rows: WaitingRows): void; reload(): void }> {
  const sql = prepare(db)
  let codes = readCodes(db)

  /** Code of a kind. Codes follow the order of first events, so they are assigned when a batch is written. */
  function codeOf({ type, kind, seq }: DaybookEvent): number {
    const name = `${type}/${kind}`
    const known = codes.get(name)
    if (known !== undefined) return known
    const code = codes.size + 1
    sql.kind.run(code, type, kind, seq)
    codes.set(name, code)
    return code
  }

  return {
    write(rows) {
      for (const { event, line, leaf, signature } of rows.events) {
        const code = codeOf(event)
        const nonzero = event.kots === null || event.kots === ZERO ? 0 : 1
        sql.event.run(event.seq, event.atMs, code, event.contestId, nonzero, line, leaf, signature)
        if (event.tx !== null) sql.tx.run(txKey(event.tx), event.seq)
        if (event.contestId !== null && isListedPayout(event)) sql.payout.run(event.contestId, event.seq)
      }
      for (const { level, index, hash } of rows.treeHashes) sql.treeHash.run(level, index, hash)
      for (const row of rows.details) sql.details.run(...row)
      for (const [ref, { seq, digest }] of rows.refs) sql.ref.run(ref, seq, digest)
      for (const { id, atMs, row, kinds } of rows.totals) sql.totals.run(id, atMs, row, kinds)
      for (const row of rows.weeks) sql.week.run(...row)
    },
    reload: () => void (codes = readCodes(db)),
  }
}

function prepare(db: DatabaseSync) {
  return {
    kind: db.prepare('INSERT INTO kinds (code, type, kind, first_seq) VALUES (?, ?, ?, ?)'),
    event: db.prepare(
      'INSERT INTO events (seq, at, code, contest, nonzero, line, leaf, signature) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    tx: db.prepare('INSERT INTO tx_events (key, seq) VALUES (?, ?)'),
    treeHash: db.prepare('INSERT INTO tree_hashes (level, n, hash) VALUES (?, ?, ?)'),
    details: db.prepare('INSERT INTO details (seq, line) VALUES (?, ?)'),
    ref: db.prepare('INSERT INTO refs (ref, seq, digest) VALUES (?, ?, ?)'),
    totals: db.prepare('INSERT INTO totals (id, at, row, kinds) VALUES (?, ?, ?, ?)'),
    week: db.prepare('INSERT INTO week_sums (q, row) VALUES (?, ?)'),
    payout: db.prepare('INSERT INTO takes (contest, seq, lot) VALUES (?, ?, 0)'),
  }
}

function readCodes(db: DatabaseSync): Map<string, number> {
  const rows = db.prepare('SELECT code, type, kind FROM kinds').all()
  return new Map(rows.map((row) => [`${text(row, 'type')}/${text(row, 'kind')}`, number(row, 'code')]))
}
