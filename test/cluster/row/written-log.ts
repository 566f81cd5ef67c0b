import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { createStoreFromRow } from '../../../src/cluster/row/begin-row.ts'
import { openKeptRows, writeTablePlace } from '../../../src/cluster/row/kept-rows.ts'
import type { BeginRow, LogRow, RowBody } from '../../../src/cluster/row/log-row.ts'
import { decodeRow, digestOfRow, encodeRow } from '../../../src/cluster/row/row-frame.ts'
import { openRowKeys } from '../../../src/cluster/row/row-keys.ts'
import { openAppender } from '../../../src/log/append.ts'
import type { ListedKey } from '../../../src/log/store/reader.ts'
import { openForWriting } from '../../../src/log/store/store.ts'
import { type SigningKey, verifierKeyOf } from '../../../src/log/tree/signer.ts'
import { openStoredTree } from '../../../src/log/tree/stored-tree.ts'
import { formatEvent } from '../../../src/protocol/event.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { TEST_KEY } from '../../story/signing.ts'
import { tradeDraft } from '../../story/trade-draft.ts'
import { formatVkey } from '../../../src/tlog/note.ts'

const ORIGIN = 'daybook.test/rows'

/** An entry of a list of keys: signing from a size on, up to another one or still. */
export function listedKey(key: SigningKey, fromSize = 0, toSize: number | null = null): ListedKey {
  return { vkey: formatVkey(verifierKeyOf(ORIGIN, key.publicKey)), fromSize, toSize, statement: null }
}

/** First row of a log with these keys. */
export function beginWith(keys: readonly ListedKey[] = [listedKey(TEST_KEY)]): BeginRow {
  const identity = {
    id: 'ab'.repeat(16),
    origin: ORIGIN,
    chain: 'opaque',
    simulated: false,
    former: [],
  } as const
  return { is: 'begin', identity, keys }
}

/** A row of the log at a place, after the one with these bytes. */
export function rowAfter(
  before: Uint8Array | undefined,
  place: number,
  body: RowBody,
  key: SigningKey = TEST_KEY,
): Uint8Array {
  const prev = before === undefined ? new Uint8Array(32) : digestOfRow(before)
  return encodeRow({ v: 1, logId: beginWith().identity.id, place, prev, ...body }, key)
}

/** The row of some bytes. */
export function rowIn(bytes: Uint8Array | undefined): LogRow {
  const decoded = decodeRow(bytes ?? new Uint8Array(0))
  return decoded.ok ? decoded.signed.row : assert.fail(decoded.reason)
}

/** A store whose log is on a table, and the rows of the table: the first one, and one event in each other. */
type WrittenLog = Disposable &
  Readonly<{ path: string; db: DatabaseSync; rows: readonly Uint8Array[]; write(ref: string): void }>

/** Creates a store from a first row, and writes an event for each ref. */
export function openWrittenLog(refs: readonly string[]): WrittenLog {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-rows-'))
  const path = join(directory, 'daybook.db')
  const rows = [rowAfter(undefined, 1, beginWith())]
  createStoreFromRow(path, rows[0] ?? assert.fail(), [TEST_KEY])
  const db = openForWriting(path)
  const appender = openAppender(db, openRowKeys(db, [TEST_KEY]).signer)
  const kept = openKeptRows(db)

  function write(name: string): void {
    const ref = { ref: name, digest: new Uint8Array(32) }
    appender.begin()
    const event = appender.append(tradeDraft(name), ref, msOf(0))
    appender.write()
    const place = rows.length + 1
    const bytes = rowAfter(rows.at(-1), place, {
      is: 'commit',
      first: event.seq,
      root: openStoredTree(db).at(event.seq).root,
      lines: [formatEvent(event)],
      details: [null],
      refs: [ref],
      held: [],
      segments: [],
      moved: null,
    })
    kept.add({ place, bytes })
    writeTablePlace(db, { place, digest: digestOfRow(bytes) })
    appender.commit()
    rows.push(bytes)
  }

  for (const ref of refs) write(ref)
  return {
    path,
    db,
    rows,
    write,
    [Symbol.dispose]() {
      db.close()
      rmSync(directory, { recursive: true })
    },
  }
}
