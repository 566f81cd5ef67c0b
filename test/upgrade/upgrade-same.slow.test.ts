import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { deflateRawSync, constants } from 'node:zlib'
import * as fc from 'fast-check'
import { openAppender } from '../../src/log/append.ts'
import { openHeldTables } from '../../src/log/held/held-tables.ts'
import { openForWriting, storePath } from '../../src/log/store/store.ts'
import { carriedPlace } from '../../src/log/tree/carried-place.ts'
import { CARRIED } from '../../src/log/store/identity-rows.ts'
import { assertConsistent } from '../stage/publish-stage.ts'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { deflateSegment } from '../../src/log/archive/gzip-member.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'
import { appendEvent, change, makeLog, openFolder } from '../story/damaged-log.ts'
import { heldDraft, endedDraft } from '../story/held-story.ts'
import { randomLogs } from '../story/random-log.ts'
import { testSigner } from '../story/signing.ts'
import { openDirectory, write, writerSteps } from '../story/store-run.ts'
import { assertSameStores, keptStoreOf, upgrade } from './upgrade-stage.ts'

const AT = msOf(Date.UTC(2026, 5, 1))
/** Events of a log with several closed months and segments. */
const EVENTS = 9_000

suite('a store that is built again from its log', () => {
  test('has the same tables, indexes and rows, whatever was published and in whichever commits', async () => {
    await fc.assert(
      fc.asyncProperty(randomLogs, writerSteps, async (entries, steps) => {
        using directory = openDirectory()
        for (const _ of write(directory.path, entries, steps, 'durable'));
        await upgrade(directory.path)
        assertSameStores(storePath(directory.path), keptStoreOf(directory.path, SCHEMA_VERSION))
      }),
      { numRuns: 12 },
    )
  })

  test('keeps held, settled and vouched drafts with their ids, and the id that comes next', async () => {
    using folder = openFolder()
    makeLog(folder.data, [40, 100])
    const db = openForWriting(storePath(folder.data))
    const tables = openHeldTables(db)
    for (const id of [1, 2, 3, 4, 5]) tables.add(heldDraft(id, AT, id === 3 ? { reason: 'waits' } : {}))
    tables.remove(2)
    tables.remove(5)
    tables.end(endedDraft(2, AT, 'failed'))
    tables.end(endedDraft(5, AT, 'dropped'))
    tables.vouch(seqOf(7), 'seen on another explorer', AT)
    assert.equal(tables.nextId(), 6)
    db.close()

    await upgrade(folder.data)
    assertSameStores(storePath(folder.data), keptStoreOf(folder.data, SCHEMA_VERSION))
    const after = openForWriting(storePath(folder.data))
    assert.equal(openHeldTables(after).nextId(), 6)
    after.close()
  })

  test('keeps the bytes and digests of month files that another version of zlib has compressed', async () => {
    using folder = openFolder()
    makeLog(folder.data, [])
    const db = openForWriting(storePath(folder.data))
    const otherZlib = (raw: Uint8Array): Uint8Array =>
      raw.length === 0 ? raw : deflateRawSync(raw, { level: 1, finishFlush: constants.Z_SYNC_FLUSH })
    const appender = openAppender(db, testSigner(db), { segmentOf: (_, raw) => otherZlib(raw) })
    appender.begin()
    while (appender.head().seq < EVENTS) appendEvent(appender, appender.head().seq + 1)
    appender.write()
    appender.commit()
    const line = Buffer.from('a line\n'.repeat(1_000))
    assert.notDeepEqual(otherZlib(line), deflateSegment(line), 'the two compress otherwise')
    db.close()

    await upgrade(folder.data)
    assertSameStores(storePath(folder.data), keptStoreOf(folder.data, SCHEMA_VERSION))
    assertConsistent(storePath(folder.data))
  })

  test('keeps its place in the table that carries its log, and the newest rows', async () => {
    using folder = openFolder()
    makeLog(folder.data, [40, 100])
    const db = openForWriting(storePath(folder.data))
    const put = db.prepare('INSERT INTO meta VALUES (?, ?)')
    put.run(CARRIED.place, '9')
    put.run(CARRIED.digest, '03'.repeat(32))
    for (const place of [8, 9])
      db.prepare('INSERT INTO messages VALUES (?, ?)').run(place, Buffer.from(`row ${place}`))
    db.close()
    await upgrade(folder.data)
    assertSameStores(storePath(folder.data), keptStoreOf(folder.data, SCHEMA_VERSION))
    const after = openForWriting(storePath(folder.data))
    assert.equal(carriedPlace(after), 9)
    assert.equal(after.prepare('SELECT count(*) AS n FROM messages').get()?.['n'], 2)
    after.close()
  })

  test('is mended: rows that do not follow from the log are computed again', async () => {
    using folder = openFolder()
    makeLog(folder.data, [40, 700])
    using other = openFolder()
    makeLog(other.data, [40, 700])
    change(folder.data, (db) =>
      db.exec('DELETE FROM prices WHERE seq > 20; UPDATE totals SET row = zeroblob(9)'),
    )
    await upgrade(folder.data)
    assert.equal(
      change(folder.data, (db) => db.prepare('SELECT count(*) AS n FROM prices').get()?.['n']),
      change(other.data, (db) => db.prepare('SELECT count(*) AS n FROM prices').get()?.['n']),
    )
  })
})
