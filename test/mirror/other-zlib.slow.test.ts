import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { constants, deflateRawSync } from 'node:zlib'
import { bulkLines } from '../../sim/bulk.ts'
import { openAppender } from '../../src/log/append.ts'
import { storeSegment } from '../../src/log/archive/gzip-member.ts'
import { createStore, openForWriting, storePath } from '../../src/log/store/store.ts'
import { markHighWater } from '../../src/log/store/high-water.ts'
import { newestCheckpoint } from '../../src/log/tree/ready-log.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { parseLine } from '../../src/publish/admission/draft-json.ts'
import { parseDraft } from '../../src/publish/admission/grammar.ts'
import { openImportStage } from '../stage/import-stage.ts'
import { testSigner } from '../story/signing.ts'
import { assertMirrors, NEW_LOG, openMirror, openOrigin } from './mirroring-stage.ts'

const EVENTS = 9_000

/** Makes a log whose segments another version of zlib has compressed: here another level. */
function makeOtherHistory(data: string): void {
  createStore(storePath(data), NEW_LOG)
  using db = openForWriting(storePath(data))
  // Every third segment is not compressed, as one that does not fit a message of an engine.
  let segments = 0
  const segmentOf = (_: unknown, raw: Uint8Array): Uint8Array => {
    segments += 1
    if (segments % 3 === 0) return storeSegment(raw)
    return deflateRawSync(raw, { level: 1, finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 2 * raw.length })
  }
  const appender = openAppender(db, testSigner(db), { segmentOf })
  const span = { from: msOf(Date.UTC(2026, 2, 20)), to: msOf(Date.UTC(2026, 5, 1)) }
  appender.begin()
  for (const line of bulkLines({ seed: 'zlib', ...span, count: EVENTS })) {
    const json = parseLine(line)
    const parsed = parseDraft(json.ok ? json.value : null, { chain: 'solana', mode: 'import' })
    assert.ok(parsed.ok && parsed.draft.atMs !== null)
    appender.append(parsed.draft, null, parsed.draft.atMs)
  }
  appender.write()
  appender.commit()
  markHighWater(data, newestCheckpoint(db))
}

suite('a mirror with another zlib than its origin', () => {
  test('stores the published bytes of every closed month, whatever it has read them from', async () => {
    await using stage = await openImportStage()
    makeOtherHistory(stage.data)
    await using origin = await openOrigin(stage.data)
    await using months = openMirror(origin.url, { archiveEventsMin: 1_000 })
    await months.follow()
    await using pages = openMirror(origin.url)
    await pages.follow()
    origin.clock.set(origin.later(40))
    await origin.trade(1)
    for (const mirror of [months, pages]) {
      await mirror.reach(EVENTS + 1)
      await mirror.stop()
      assertMirrors(mirror.data, origin.data)
    }
  })
})
