import type { DatabaseSync } from 'node:sqlite'
import { isStoredSegment } from '../../log/archive/gzip-member.ts'
import type { HeldDraft } from '../../log/held/held-draft.ts'
import { openHeldTables } from '../../log/held/held-tables.ts'
import { FILE_CODES, SEGMENT_SEQS } from '../../log/store/archive-tables.ts'
import { bytes, number, type Row, text } from '../../log/store/codec.ts'
import { readIdentity, StoreError } from '../../log/store/store.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import { signNewest } from '../../log/tree/ready-log.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { openStoredTree } from '../../log/tree/stored-tree.ts'
import { assert } from '../../protocol/brand.ts'
import { msOf, parseMonth } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { beginOf } from '../row/begin-row.ts'
import { clearTablePlace, openKeptRows, writeTablePlace } from '../row/kept-rows.ts'
import {
  type CommitRow,
  type HeldChange,
  ROW_VERSION,
  type RowBody,
  type RowSegment,
  type RowSignatures,
  STORED_ROW_SEGMENT,
} from '../row/log-row.ts'
import { digestOfRow, encodeRow } from '../row/row-frame.ts'
import { openRowKeys } from '../row/row-keys.ts'
import type { TableRow } from '../table/log-table.ts'
import { bytesOfChange, bytesOfEvent, bytesOfRef, ROW_CHANGES_BYTES_MAX } from './row-room.ts'

/** Most bytes of the events of one row. They are few, because the row's segments need the rest. */
const EVENTS_BYTES: number = 128 * 1024
/** Most events of one row. So many fit a row when they are short, and few are read in vain. */
const SLICE_EVENTS = 512
const SEGMENTS_BYTES: number = ROW_CHANGES_BYTES_MAX - EVENTS_BYTES
/** Size from which a segment is not carried, if each node can make it again. */
const LARGE_SEGMENT_BYTES: number = 64 * 1024
/** Bytes of a stored signature in a row, with its size. At most two keys sign. */
const SIGNATURE_BYTES = 210

/**
 * Rows that carry a whole log to a table: the first one, all events with their stored signatures and segments, and the
 * held drafts. `key`, the log's first signing key, signs the rows. Nobody may write the store meanwhile. `db` must be
 * writable, because the refs are sorted in a temporary table.
 */
export function* movedRows(db: DatabaseSync, key: SigningKey): Generator<TableRow, void> {
  const { id: logId } = readIdentity(db)
  let prev: Uint8Array = new Uint8Array(32)
  let place = 0
  for (const body of bodies(db)) {
    place += 1
    const row = encodeRow({ v: ROW_VERSION, logId, place, prev, ...body }, key)
    prev = digestOfRow(row)
    yield { place, bytes: row }
  }
}

/**
 * Records in the moved store that its log is on the table, up to the newest row, in the caller's transaction. `keys`
 * sign the log.
 */
export function enterTable(db: DatabaseSync, newest: TableRow, keys: readonly SigningKey[]): void {
  // Nodes that join sign an empty tree with the keys in the order of the list. Any other signature is carried.
  if (headOf(db) === 0) signNewest(db, openRowKeys(db, keys).signing)
  const kept = openKeptRows(db)
  kept.clear()
  kept.add(newest)
  writeTablePlace(db, { place: newest.place, digest: digestOfRow(newest.bytes) })
}

/** Records that the log has left the table, in the caller's transaction. Only this store has the log from then on. */
export function leaveTable(db: DatabaseSync): void {
  openKeptRows(db).clear()
  clearTablePlace(db)
}

function* bodies(db: DatabaseSync): Generator<RowBody, void> {
  yield beginOf(db)
  yield* movedEvents(db)
  yield* movedHeld(db)
}

const NOTHING = { lines: [], details: [], refs: [], held: [], segments: [] } as const
const UNSIGNED: RowSignatures = { signatures: [], notes: [] }

function* movedEvents(db: DatabaseSync): Generator<CommitRow, void> {
  db.exec(`DROP TABLE IF EXISTS temp.moved_refs;
    CREATE TEMP TABLE moved_refs (seq INTEGER PRIMARY KEY, ref TEXT NOT NULL, digest BLOB NOT NULL) STRICT;
    INSERT INTO moved_refs SELECT seq, ref, digest FROM main.refs ORDER BY seq`)
  const rows = db.prepare(
    `SELECT e.seq, e.line, e.signature, d.line AS details, r.ref, r.digest FROM events e
     LEFT JOIN details d ON d.seq = e.seq LEFT JOIN moved_refs r ON r.seq = e.seq
     WHERE e.seq > ? ORDER BY e.seq LIMIT ?`,
  )
  const tree = openStoredTree(db)
  const endsOf = openMonthEnds(db)
  for (let [after, head] = [0, headOf(db)]; after < head;) {
    // At most one segment of each file ends in the middle of a month.
    const slice = sliceOf(rows.all(after, Math.min(SLICE_EVENTS, SEGMENT_SEQS - (after % SEGMENT_SEQS))))
    const last = after + slice.length
    const { segments, notes } = endsOf(after, last)
    const signatures = slice.flatMap((row) =>
      row['signature'] === null ? [] : [{ size: number(row, 'seq'), bytes: bytes(row, 'signature') }],
    )
    yield {
      is: 'commit',
      first: after + 1,
      root: tree.at(last).root,
      held: [],
      segments,
      lines: slice.map((row) => text(row, 'line')),
      details: slice.map((row) => (row['details'] === null ? null : text(row, 'details'))),
      refs: slice.map(refOf),
      moved: { signatures, notes },
    }
    after = last
  }
  db.exec('DROP TABLE temp.moved_refs')
}

function refOf(row: Row): CommitRow['refs'][number] {
  return row['ref'] === null ? null : { ref: text(row, 'ref'), digest: bytes(row, 'digest') }
}

/** The first rows that fit a row. */
function sliceOf(rows: readonly Row[]): readonly Row[] {
  let size = 0
  const end = rows.findIndex((row) => {
    const details = row['details'] === null ? null : text(row, 'details')
    size += bytesOfEvent(text(row, 'line'), details) + bytesOfRef(refOf(row)) + SIGNATURE_BYTES
    return size > EVENTS_BYTES
  })
  return end < 0 ? rows : rows.slice(0, Math.max(1, end))
}

/** Opens the segments and signed month notes that the events of a slice end. */
function openMonthEnds(
  db: DatabaseSync,
): (after: number, last: number) => Pick<CommitRow, 'segments'> & Pick<RowSignatures, 'notes'> {
  // A segment ends with its last event, or when the next month begins.
  const ends = `iif(last_seq % ${SEGMENT_SEQS} = 0, last_seq, last_seq + 1)`
  const segments = db.prepare(
    `SELECT month, file, start, bytes, raw_bytes FROM segments WHERE ${ends} > ?1 AND ${ends} <= ?2
       AND last_seq BETWEEN ?1 AND ?2 ORDER BY last_seq, file`,
  )
  const notes = db.prepare(
    `SELECT last_seq, json_extract(manifest, '$.checkpoint') AS note FROM months
     WHERE closed = 1 AND last_seq >= ?1 AND last_seq < ?2 ORDER BY month`,
  )
  return (after, last) => {
    const carried = segments.all(after, last).map(segmentOfRow)
    const size = carried.reduce((sum, segment) => sum + segment.bytes.length, 0)
    if (size > SEGMENTS_BYTES)
      throw new StoreError(
        `the segments that end at seq ${last} have ${size} bytes, more than one row can hold`,
      )
    return {
      segments: carried,
      notes: notes
        .all(after, last)
        .map((row) => ({ size: number(row, 'last_seq'), note: text(row, 'note') })),
    }
  }
}

function segmentOfRow(row: Row): RowSegment {
  const month = parseMonth(text(row, 'month'))
  assert(month !== undefined, 'a segment is of a month')
  const file = number(row, 'file') === FILE_CODES.events ? 'events' : 'details'
  const start = number(row, 'start')
  const stored = bytes(row, 'bytes')
  // A log that was on a table before has such segments.
  const isMadeAgain =
    stored.length >= LARGE_SEGMENT_BYTES && isStoredSegment(stored, number(row, 'raw_bytes'))
  return { month, file, start, bytes: isMadeAgain ? STORED_ROW_SEGMENT : stored }
}

/** Held, failed and dropped drafts, and the events that the operator vouched for. */
function* movedHeld(db: DatabaseSync): Generator<CommitRow, void> {
  const head = headOf(db)
  const { root } = openStoredTree(db).at(head)
  let held: HeldChange[] = []
  let size = 0
  const commit = (): CommitRow => ({ ...NOTHING, is: 'commit', first: head + 1, root, held, moved: UNSIGNED })
  for (const changes of heldChanges(db)) {
    const more = changes.reduce((sum, change) => sum + movedBytes(change), 0)
    if (size + more > EVENTS_BYTES && held.length > 0) {
      yield commit()
      held = []
      size = 0
    }
    held.push(...changes)
    size += more
  }
  if (held.length > 0) yield commit()
}

/** Most bytes of a change. A draft that was held for long has more texts than a new one. */
function movedBytes(change: HeldChange): number {
  const own = bytesOfChange(change)
  if (change.is !== 'hold') return own
  const { id, chain, place, settledAt, vouch, reason } = change.held
  return own + bytesOfChange({ is: 'change', ids: [id], chain, place, settledAt, vouch, reason })
}

function* heldChanges(db: DatabaseSync): Generator<readonly HeldChange[], void> {
  const tables = openHeldTables(db)
  const chain = tables.chain()
  if (chain !== null) yield [{ is: 'chain', id: chain }]
  const drafts = [...tables.all()].map((held): readonly [number, readonly HeldChange[]] => [
    held.id,
    [{ is: 'hold', held }],
  ])
  const ended = (['failed', 'dropped'] as const).flatMap((of) =>
    tables.endedAfter(of, 0, Number.MAX_SAFE_INTEGER).map((settled): (typeof drafts)[number] => {
      const { id, ref, draft, acceptedAt, state, settledAt, place, reason } = settled
      const waits = { chain: 'none', place: null, settledAt: null, vouch: null, reason: null } as const
      const held: HeldDraft = { id, ref, draft, acceptedAt, ...waits }
      return [
        id,
        [
          { is: 'hold', held },
          { is: 'settle', ids: [id], state, settledAt, place, reason },
        ],
      ]
    }),
  )
  // In order of acceptance, so that the next id stays the same.
  for (const [, changes] of [...drafts, ...ended].toSorted(([a], [b]) => a - b)) yield changes
  for (const row of db.prepare('SELECT seq, reason, at FROM vouched ORDER BY seq').all()) {
    yield [
      {
        is: 'vouch',
        seq: seqOf(number(row, 'seq')),
        reason: text(row, 'reason'),
        at: msOf(number(row, 'at')),
      },
    ]
  }
}
