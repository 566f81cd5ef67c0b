import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  archiveEvent,
  archiveEvents,
  commit,
  openDatabase,
  STORY_SIGNER,
} from '../../../test/story/archive-story.ts'
import { monthOf, msOf } from '../../protocol/moment.ts'
import type { ArchiveManifest } from '../../protocol/endpoints/file-endpoints.ts'
import { seqOf } from '../../protocol/seq.ts'
import { MONTH_FILES, openStoredLines, SEGMENT_SEQS } from '../../log/store/archive-tables.ts'
import { openArchiveReader } from '../../log/archive/archive-reader.ts'
import { openArchiveWriter } from '../../log/archive/archive-writer.ts'
import { storeSegment } from '../../log/archive/gzip-member.ts'
import { replaceSegments } from './replace-segments.ts'

const FROM = Date.UTC(2026, 9, 1)
const MONTH = monthOf(msOf(FROM))
const LATER = Date.UTC(2026, 10, 2)
const EVENTS = SEGMENT_SEQS + 10
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

suite('the segments of another node, which compresses otherwise', () => {
  test('take the place of the own ones, and the month closes with digests of the bytes that are there', () => {
    const db = openDatabase()
    commit(db, openArchiveWriter(db, STORY_SIGNER), archiveEvents(1, EVENTS, FROM, 1_000))
    const lines = openStoredLines(db)
    for (const file of MONTH_FILES) {
      const raw = lines(file, 1, SEGMENT_SEQS)
      assert.ok(replaceSegments(db, MONTH, file, [{ lastSeq: SEGMENT_SEQS, raw, bytes: storeSegment(raw) }]))
    }
    commit(db, openArchiveWriter(db, STORY_SIGNER), [archiveEvent(EVENTS + 1, LATER)])
    const reader = openArchiveReader(db)
    const manifest: ArchiveManifest = JSON.parse(reader.month(MONTH, seqOf(EVENTS + 1))?.manifest ?? '')
    for (const file of MONTH_FILES) {
      const layout = reader.layout(MONTH, file, seqOf(EVENTS + 1)) ?? assert.fail()
      const pieces: Uint8Array[] = []
      for (let from = 0; from < layout.storedBytes; from += pieces.at(-1)?.length ?? 0)
        pieces.push(reader.chunk(MONTH, file, from, layout.storedBytes))
      const whole = Buffer.concat([...pieces, layout.ending])
      const raw = lines(file, 1, EVENTS)
      assert.ok(whole.includes(storeSegment(lines(file, 1, SEGMENT_SEQS))), 'the published bytes are there')
      assert.ok(gunzipSync(whole).equals(raw))
      const { gzip, lines: digest } =
        file === 'events' ? manifest : { gzip: manifest.details, lines: manifest.details.lines }
      assert.deepEqual([gzip.bytes, gzip.sha256], [whole.length, sha256(whole)])
      assert.deepEqual(digest, { bytes: raw.length, sha256: sha256(raw) })
    }
  })

  test('are none in a file without lines, whose tables stay as they are', () => {
    const db = openDatabase()
    const events = archiveEvents(1, SEGMENT_SEQS, FROM, 1_000).map((event) => ({ ...event, details: null }))
    commit(db, openArchiveWriter(db, STORY_SIGNER), events)
    const rows = () => db.prepare('SELECT * FROM segments').all()
    const before = rows()
    assert.ok(replaceSegments(db, MONTH, 'details', []))
    assert.deepEqual(rows(), before)
  })

  test('are refused when they hold other lines', () => {
    const db = openDatabase()
    commit(db, openArchiveWriter(db, STORY_SIGNER), archiveEvents(1, SEGMENT_SEQS, FROM, 1_000))
    const raw = Buffer.from(openStoredLines(db)('events', 1, SEGMENT_SEQS))
    const other = Buffer.from(raw)
    other[100] = (other[100] ?? 0) ^ 1
    for (const wrong of [raw.subarray(1), other]) {
      const bytes = storeSegment(wrong)
      db.exec('SAVEPOINT before')
      assert.equal(
        replaceSegments(db, MONTH, 'events', [{ lastSeq: SEGMENT_SEQS, raw: wrong, bytes }]),
        false,
      )
      db.exec('ROLLBACK TO before')
    }
  })
})
