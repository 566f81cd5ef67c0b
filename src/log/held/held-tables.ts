import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../../protocol/brand.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import { msOrNull, number, type Row, text } from '../store/codec.ts'
import {
  type ChainWord,
  formatDraft,
  type HeldDraft,
  parseStoredDraft,
  type EndedDraft,
} from './held-draft.ts'
import type { FinalityCounts } from '../store/reader.ts'

/** Tables of held drafts. Every change happens in the caller's transaction. */
export type HeldTables = Readonly<{
  /** All held drafts, in order of acceptance. */
  all(): Iterable<HeldDraft>
  /** Next id, greater than all former ones. */
  nextId(): number
  /** Adds a held draft. */
  add(held: HeldDraft): void
  /** Writes everything of a held draft that can change. */
  change(held: HeldDraft): void
  remove(id: number): void
  end(ended: EndedDraft): void
  /** Draft with this ref that will never be published. */
  ended(ref: string): EndedDraft | undefined
  /** Failed or dropped drafts after the id `after`, in order of acceptance. */
  endedAfter(state: EndedDraft['state'], after: number, limit: number): readonly EndedDraft[]
  vouch(seq: Seq, reason: string, at: Ms): void
  /** Whether any draft has ended. */
  anyEnded(): boolean
  /** Id of the blockchain that has settled drafts of this log; null before the first one. */
  chain(): string | null
  keepChain(id: string): void
}>

export function openHeldTables(db: DatabaseSync): HeldTables {
  const sql = prepare(db)
  return {
    *all() {
      for (const row of sql.all.iterate()) yield heldOfRow(row)
    },
    nextId: () => number(sql.nextId.get() ?? {}, 'id'),
    add({ id, ref, draft, acceptedAt, chain, place, settledAt, vouch, reason }) {
      sql.add.run(id, ref, formatDraft(draft), acceptedAt, chain, place, settledAt, vouch, reason)
    },
    change: ({ id, chain, place, settledAt, vouch, reason }) =>
      void sql.change.run(chain, place, settledAt, vouch, reason, id),
    remove: (id) => void sql.remove.run(id),
    end({ id, ref, draft, acceptedAt, state, settledAt, place, reason }) {
      sql.end.run(id, ref, formatDraft(draft), acceptedAt, state, settledAt, place, reason)
    },
    ended(ref) {
      const row = sql.ended.get(ref)
      return row === undefined ? undefined : endedOfRow(row)
    },
    endedAfter: (state, after, limit) => sql.endedAfter.all(state, after, limit).map(endedOfRow),
    vouch: (seq, reason, at) => void sql.vouch.run(seq, reason, at),
    anyEnded: () => sql.anyEnded.get() !== undefined,
    chain: () => readChainId(db),
    keepChain: (id) => writeChainId(db, id),
  }
}

function prepare(db: DatabaseSync) {
  return {
    all: db.prepare('SELECT * FROM held ORDER BY id'),
    nextId: db.prepare(`SELECT coalesce(max(seq), 0) + 1 AS id FROM sqlite_sequence WHERE name = 'held'`),
    add: db.prepare(
      `INSERT INTO held (id, ref, draft, accepted_at, chain, place, settled_at, vouch, reason)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    change: db.prepare(
      'UPDATE held SET chain = ?, place = ?, settled_at = ?, vouch = ?, reason = ? WHERE id = ?',
    ),
    remove: db.prepare('DELETE FROM held WHERE id = ?'),
    end: db.prepare(
      `INSERT INTO settled (id, ref, draft, accepted_at, state, settled_at, place, reason)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    ended: db.prepare('SELECT * FROM settled WHERE ref = ?'),
    endedAfter: db.prepare('SELECT * FROM settled WHERE state = ? AND id > ? ORDER BY id LIMIT ?'),
    vouch: db.prepare('INSERT INTO vouched (seq, reason, at) VALUES (?, ?, ?)'),
    anyEnded: db.prepare('SELECT 1 FROM settled LIMIT 1'),
  }
}

const CHAIN_WORDS: readonly ChainWord[] = ['asked', 'final', 'vouched', 'none']

function heldOfRow(row: Row): HeldDraft {
  const ref = text(row, 'ref')
  const chain = CHAIN_WORDS.find((word) => word === row['chain'])
  assert(chain !== undefined, 'a held draft says whose word it has')
  return {
    id: number(row, 'id'),
    ref,
    draft: parseStoredDraft(text(row, 'draft'), ref),
    acceptedAt: msOf(number(row, 'accepted_at')),
    chain,
    place: textOrNull(row, 'place'),
    settledAt: msOrNull(row, 'settled_at'),
    vouch: textOrNull(row, 'vouch'),
    reason: textOrNull(row, 'reason'),
  }
}

function endedOfRow(row: Row): EndedDraft {
  const ref = text(row, 'ref')
  return {
    id: number(row, 'id'),
    ref,
    draft: parseStoredDraft(text(row, 'draft'), ref),
    acceptedAt: msOf(number(row, 'accepted_at')),
    state: row['state'] === 'failed' ? 'failed' : 'dropped',
    settledAt: msOf(number(row, 'settled_at')),
    place: textOrNull(row, 'place'),
    reason: text(row, 'reason'),
  }
}

function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}

/** Opens the counts of held drafts. The returned function reads them in the caller's read transaction. */
export function openHeldCounts(db: DatabaseSync): () => FinalityCounts {
  const counts = db.prepare(
    `SELECT held, refused, failed, dropped, vouched, version,
       (SELECT accepted_at FROM held WHERE held.id = (SELECT min(id) FROM held)) AS oldest
     FROM held_counts WHERE id = 1`,
  )
  return () => {
    const row = counts.get()
    assert(row !== undefined, 'the store has its row of counts')
    return {
      held: number(row, 'held'),
      oldestMs: msOrNull(row, 'oldest'),
      refused: number(row, 'refused'),
      failed: number(row, 'failed'),
      dropped: number(row, 'dropped'),
      vouched: number(row, 'vouched'),
      version: number(row, 'version'),
    }
  }
}

const KEY = 'chain-id'

/** Genesis hash or chain id of the blockchain that has settled drafts of this log; null before the first one. */
export function readChainId(db: DatabaseSync): string | null {
  const row = db.prepare('SELECT value FROM meta WHERE key = ?').get(KEY)
  return row === undefined ? null : text(row, 'value')
}

/** Stores the id of the log's blockchain, in the caller's transaction or one of its own. */
function writeChainId(db: DatabaseSync, id: string): void {
  db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(KEY, id)
}
