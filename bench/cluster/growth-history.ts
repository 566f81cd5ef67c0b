import type { DatabaseSync } from 'node:sqlite'
import type { EngineMessage } from '../../src/engine/log-engine.ts'
import { genesisOf } from '../../src/log/message/genesis.ts'
import type { CarriedSegment, Commit, MessageBody } from '../../src/log/message/message.ts'
import { FIRST_STREAM, MESSAGE_VERSION } from '../../src/log/message/message.ts'
import { digestOfMessage, encodeMessage } from '../../src/log/message/message-frame.ts'
import { certifyNode } from '../../src/log/message/node-key.ts'
import { FILE_CODES, SEGMENT_SEQS } from '../../src/log/store/archive-tables.ts'
import { bytes, number, text } from '../../src/log/store/codec.ts'
import { readIdentity } from '../../src/log/store/store.ts'
import { HASHER, openStoredTree } from '../../src/log/tree/stored-tree.ts'
import { parseMonth } from '../../src/protocol/moment.ts'
import { appendLeaf, emptyFrontier, rootOf } from '../../src/tlog/frontier.ts'
import { OTHER_KEY, TEST_KEY } from '../../test/story/signing.ts'

/** Messages of a log as its writers would have made them, one for each event of a store, after the first message. */
export function* eventMessages(db: DatabaseSync): Generator<EngineMessage, void> {
  const { id: logId } = readIdentity(db)
  const node = certifyNode(logId, OTHER_KEY, TEST_KEY)
  let prev: Uint8Array = new Uint8Array(32)
  let place = 0
  for (const body of bodies(db)) {
    place += 1
    const of = { v: MESSAGE_VERSION, logId, stream: FIRST_STREAM, place, prev, ...body } as const
    const message = encodeMessage(of, node)
    prev = digestOfMessage(message)
    yield { place, bytes: message }
  }
}

function* bodies(db: DatabaseSync): Generator<MessageBody, void> {
  yield { ...genesisOf(db), head: 0, root: openStoredTree(db).at(0).root }
  db.exec(`DROP TABLE IF EXISTS temp.event_refs;
    CREATE TEMP TABLE event_refs (seq INTEGER PRIMARY KEY, ref TEXT NOT NULL, digest BLOB NOT NULL) STRICT;
    INSERT INTO event_refs SELECT seq, ref, digest FROM main.refs ORDER BY seq`)
  const rows = db
    .prepare(
      `SELECT e.seq, e.line, e.leaf, d.line AS details, r.ref, r.digest FROM events e
       LEFT JOIN details d ON d.seq = e.seq LEFT JOIN event_refs r ON r.seq = e.seq ORDER BY e.seq`,
    )
    .iterate()
  const segmentsOf = segmentEnds(db)
  const tree = emptyFrontier()
  for (const row of rows) {
    appendLeaf(HASHER, tree, bytes(row, 'leaf'))
    yield {
      is: 'commit',
      first: number(row, 'seq'),
      root: rootOf(HASHER, tree),
      lines: [text(row, 'line')],
      details: [row['details'] === null ? null : text(row, 'details')],
      refs: [row['ref'] === null ? null : { ref: text(row, 'ref'), digest: bytes(row, 'digest') }],
      held: [],
      segments: segmentsOf(number(row, 'seq')),
      moved: null,
    }
  }
}

/** Gives the segments of month files that end with the commit of an event. */
function segmentEnds(db: DatabaseSync): (seq: number) => Commit['segments'] {
  const select = db.prepare('SELECT month, file, start, bytes FROM segments WHERE last_seq = ? ORDER BY file')
  const ends = new Map<number, number>()
  for (const row of db.prepare('SELECT DISTINCT last_seq FROM segments').all()) {
    const last = number(row, 'last_seq')
    // A segment ends with its last event, or when the next month begins.
    ends.set(last % SEGMENT_SEQS === 0 ? last : last + 1, last)
  }
  return (seq) => {
    const last = ends.get(seq)
    if (last === undefined) return []
    return select.all(last).map((row): CarriedSegment => {
      const month = parseMonth(text(row, 'month'))
      if (month === undefined) throw new Error('a segment is of a month')
      const file = number(row, 'file') === FILE_CODES.events ? 'events' : 'details'
      return { month, file, start: number(row, 'start'), bytes: bytes(row, 'bytes') }
    })
  }
}
