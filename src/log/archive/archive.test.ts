import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { type Month, monthOf, msOf, parseMonth } from '../../protocol/moment.ts'
import type { ArchiveManifest } from '../../protocol/endpoints/file-endpoints.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'
import { type ArchiveReader, CHUNK_BYTES_MAX, openArchiveReader } from './archive-reader.ts'
import { MONTH_FILES, SEGMENT_SEQS } from '../store/archive-tables.ts'
import { openArchiveWriter } from './archive-writer.ts'
import {
  type ArchiveEvent,
  archiveEvent,
  archiveEvents,
  commit,
  openDatabase,
  rootOf,
  STORY_SIGNER,
} from '../../../test/story/archive-story.ts'
import { EMPTY_SUM, GZIP_HEADER, gzipTrailer } from './gzip-member.ts'
import type { MonthFile } from '../store/reader.ts'

function bytesOfFile(reader: ArchiveReader, month: Month, file: MonthFile, head: Seq): Buffer {
  const layout = reader.layout(month, file, head)
  assert.ok(layout)
  const pieces: Uint8Array[] = []
  for (let from = 0; from < layout.storedBytes; from += pieces.at(-1)?.length ?? 0) {
    pieces.push(reader.chunk(month, file, from, layout.storedBytes))
  }
  return Buffer.concat([...pieces, layout.ending])
}

/** All files of all months by name. */
function files(db: DatabaseSync, head: Seq): Record<string, string> {
  const reader = openArchiveReader(db)
  const named = reader
    .months(head)
    .flatMap(({ month }) =>
      MONTH_FILES.map((file) => [
        `${month} ${file}`,
        bytesOfFile(reader, month, file, head).toString('base64'),
      ]),
    )
  return Object.fromEntries(named)
}

function linesOf(events: readonly ArchiveEvent[], file: MonthFile): string {
  return events
    .map((event) => (file === 'events' ? event.line : event.details))
    .filter((line) => line !== null)
    .map((line) => `${line}\n`)
    .join('')
}

/** The file of a month without events. */
const EMPTY_MEMBER = Buffer.concat([GZIP_HEADER, gzipTrailer(EMPTY_SUM)])
const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

/** Asserts that every month holds exactly its events, and that its manifest is right. */
function verify(db: DatabaseSync, published: readonly ArchiveEvent[]): void {
  const head = published.at(-1)?.seq ?? seqOf(0)
  const reader = openArchiveReader(db)
  let size = (published[0]?.seq ?? 1) - 1
  for (const { month, closed, events, firstSeq, lastSeq, manifest } of reader.months(head)) {
    const own = published.filter(({ atMs }) => monthOf(atMs) === month)
    size += own.length
    assert.deepEqual([events, firstSeq, lastSeq], [own.length, own[0]?.seq ?? null, own.at(-1)?.seq ?? null])
    const bytes: Record<MonthFile, Uint8Array> = { events: EMPTY_MEMBER, details: EMPTY_MEMBER }
    for (const file of MONTH_FILES) {
      bytes[file] = bytesOfFile(reader, month, file, head)
      assert.equal(gunzipSync(bytes[file]).toString(), linesOf(own, file))
    }
    assert.equal(closed, month !== monthOf(published.at(-1)?.atMs ?? msOf(0)))
    assert.equal(manifest === null, !closed)
    if (manifest === null) continue
    const lines = { events: linesOf(own, 'events'), details: linesOf(own, 'details') }
    const digest = (content: Uint8Array | string) => ({
      bytes: Buffer.byteLength(content),
      sha256: sha256(content),
    })
    assert.deepEqual(JSON.parse(manifest), {
      month,
      firstSeq,
      lastSeq,
      events,
      firstIndex: firstSeq === null ? null : firstSeq - 1,
      size,
      root: Buffer.from(rootOf(size)).toString('base64'),
      checkpoint: STORY_SIGNER.sign({ size, root: rootOf(size) }).note,
      lines: digest(lines.events),
      gzip: digest(bytes.events),
      details: { ...digest(bytes.details), lines: digest(lines.details) },
    } satisfies ArchiveManifest)
  }
}

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 4)
const DAY_MS = 86_400_000

suite('the archive', () => {
  test('has no month before the first event', () => {
    const reader = openArchiveReader(openDatabase())
    assert.deepEqual(reader.months(seqOf(0)), [])
    const month = parseMonth('2026-10')
    assert.ok(month)
    assert.equal(reader.month(month, seqOf(0)), undefined)
    assert.equal(reader.layout(month, 'events', seqOf(0)), undefined)
  })

  test('has the same bytes however its events were committed, through restarts, drops and rollbacks', () => {
    const from = fc.integer({ min: 1, max: 2 * SEGMENT_SEQS })
    const step = fc.constantFrom(1000, 300_000, 1_000_000, DAY_MS / 24)
    const sizes = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(from, step, sizes, fc.infiniteStream(fc.nat(3)), (first, stepMs, counts, luck) => {
        const total = counts.reduce((a, b) => a + b)
        const events = archiveEvents(first, total, Date.UTC(2026, 0, 20), stepMs)
        const bulk = openDatabase()
        commit(bulk, openArchiveWriter(bulk, STORY_SIGNER), events)
        const live = openDatabase()
        let writer = openArchiveWriter(live, STORY_SIGNER)
        let done = 0
        for (const count of counts) {
          const next = events.slice(done, (done += count))
          const fate = luck.next().value
          if (fate === 1) writer = openArchiveWriter(live, STORY_SIGNER)
          if (fate === 2) {
            commit(live, writer, next, 'ROLLBACK')
            writer.reload()
          }
          if (fate === 3) {
            for (const event of next) writer.add(event, () => rootOf(event.seq - 1))
            writer.forget()
          }
          commit(live, writer, next)
        }
        verify(live, events)
        const head = seqOf(first + total - 1)
        assert.deepEqual(files(live, head), files(bulk, head))
      }),
      { numRuns: RUNS },
    )
  })

  test('closes a month in the commit of the first event after it', () => {
    const db = openDatabase()
    const writer = openArchiveWriter(db, STORY_SIGNER)
    const last = archiveEvent(1, Date.UTC(2026, 10, 1) - 1)
    const next = archiveEvent(2, Date.UTC(2026, 10, 1))
    commit(db, writer, [last])
    assert.deepEqual(
      openArchiveReader(db)
        .months(last.seq)
        .map(({ closed }) => closed),
      [false],
    )
    commit(db, writer, [next])
    const months = openArchiveReader(db).months(next.seq)
    assert.deepEqual(
      months.map(({ month, closed, events }) => [month, closed, events]),
      [
        ['2026-10', true, 1],
        ['2026-11', false, 1],
      ],
    )
    verify(db, [last, next])
  })

  test('never changes a closed file', () => {
    const db = openDatabase()
    const writer = openArchiveWriter(db, STORY_SIGNER)
    const events = archiveEvents(1, 5000, Date.UTC(2026, 8, 30), 3 * 60_000)
    commit(db, writer, events)
    const head = seqOf(5000)
    const closed = openArchiveReader(db)
      .months(head)
      .filter((month) => month.closed)
    assert.equal(closed.length, 1)
    const before = files(db, head)
    const more = archiveEvents(5001, 4000, (events.at(-1)?.atMs ?? 0) + 1, 30 * 60_000)
    commit(db, openArchiveWriter(db, STORY_SIGNER), more)
    const after = files(db, seqOf(9000))
    for (const file of MONTH_FILES) assert.equal(after[`2026-09 ${file}`], before[`2026-09 ${file}`])
    verify(db, [...events, ...more])
  })

  test('has an empty file and a manifest for a month without events', () => {
    const db = openDatabase()
    const events = [archiveEvent(1, Date.UTC(2025, 10, 5)), archiveEvent(2, Date.UTC(2026, 1, 1))]
    commit(db, openArchiveWriter(db, STORY_SIGNER), events)
    verify(db, events)
    const reader = openArchiveReader(db)
    const months = reader.months(seqOf(2))
    assert.deepEqual(
      months.map(({ month, firstSeq }) => [month, firstSeq]),
      [
        ['2025-11', 1],
        ['2025-12', null],
        ['2026-01', null],
        ['2026-02', 2],
      ],
    )
    const month = months[1]?.month
    assert.ok(month)
    assert.deepEqual(bytesOfFile(reader, month, 'events', seqOf(2)), EMPTY_MEMBER)
  })

  test('ends a segment at every seq divisible by 4,096 and at the month’s end', () => {
    const db = openDatabase()
    commit(
      db,
      openArchiveWriter(db, STORY_SIGNER),
      archiveEvents(4000, 9000, Date.UTC(2026, 9, 1), 5 * 60_000),
    )
    const ends = db.prepare('SELECT last_seq FROM segments WHERE file = 0 ORDER BY last_seq').all()
    assert.deepEqual(
      ends.map((row) => row['last_seq']),
      [4096, 8192, 12_288, 4000 + 31 * 288 - 1],
    )
  })

  test('lets a file be read over several heads, also while its month closes', () => {
    const db = openDatabase()
    const writer = openArchiveWriter(db, STORY_SIGNER)
    const events = archiveEvents(1, 5000, Date.UTC(2026, 9, 1), 60_000)
    commit(db, writer, events)
    const reader = openArchiveReader(db)
    const month = monthOf(msOf(Date.UTC(2026, 9, 1)))
    const layout = reader.layout(month, 'events', seqOf(5000))
    assert.ok(layout)
    commit(db, writer, archiveEvents(5001, 5000, Date.UTC(2026, 9, 30), 60_000))
    assert.equal(reader.month(month, seqOf(10_000))?.closed, true)
    const pieces: Uint8Array[] = []
    for (let from = 0; from < layout.storedBytes; from += pieces.at(-1)?.length ?? 0) {
      pieces.push(reader.chunk(month, 'events', from, layout.storedBytes))
    }
    const file = Buffer.concat([...pieces, layout.ending])
    assert.equal(gunzipSync(file).toString(), linesOf(events, 'events'))
  })

  test('gives any range of a file, at most 1 MiB at a time', () => {
    const db = openDatabase()
    commit(db, openArchiveWriter(db, STORY_SIGNER), archiveEvents(1, 9000, Date.UTC(2026, 9, 1), 6 * 60_000))
    const reader = openArchiveReader(db)
    const month = monthOf(msOf(Date.UTC(2026, 9, 1)))
    const whole = bytesOfFile(reader, month, 'events', seqOf(9000))
    const stored = reader.layout(month, 'events', seqOf(9000))?.storedBytes ?? 0
    fc.assert(
      fc.property(fc.nat(stored - 1), fc.nat(stored - 1), (a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b) + 1]
        const chunk = reader.chunk(month, 'events', from, to)
        assert.ok(chunk.length > 0 && chunk.length <= Math.min(to - from, CHUNK_BYTES_MAX))
        return whole.subarray(from, from + chunk.length).equals(chunk)
      }),
    )
    assert.throws(() => reader.chunk(month, 'events', stored, stored + 1), /is stored/)
  })

  test('never serves a damaged segment, and closes its month without reading it', () => {
    const db = openDatabase()
    const events = archiveEvents(1, SEGMENT_SEQS, Date.UTC(2026, 9, 1), 1000)
    commit(db, openArchiveWriter(db, STORY_SIGNER), events)
    const bytes = db.prepare('SELECT bytes FROM segments WHERE file = 0').get()?.['bytes']
    assert.ok(bytes instanceof Uint8Array)
    bytes[100] = (bytes[100] ?? 0) ^ 1
    db.prepare('UPDATE segments SET bytes = ? WHERE file = 0').run(bytes)
    const month = monthOf(msOf(Date.UTC(2026, 9, 1)))
    assert.throws(() => openArchiveReader(db).chunk(month, 'events', 500, 600), /damaged/)
    // The digests were computed when the segment was written, so the manifest describes the bytes before the damage.
    const seq = SEGMENT_SEQS + 1
    commit(db, openArchiveWriter(db, STORY_SIGNER), [archiveEvent(seq, Date.UTC(2026, 10, 2))])
    const manifest = JSON.parse(openArchiveReader(db).month(month, seqOf(seq))?.manifest ?? '{}')
    assert.equal(manifest.lines.sha256, sha256(linesOf(events, 'events')))
    assert.throws(() => openArchiveReader(db).chunk(month, 'events', 500, 600), /damaged/)
  })

  test('refuses to end a segment whose events are not in the store', () => {
    const db = openDatabase()
    const writer = openArchiveWriter(db, STORY_SIGNER)
    for (let seq = 1; seq <= SEGMENT_SEQS; seq += 1)
      writer.add({ seq: seqOf(seq), atMs: msOf(1e12) }, () => rootOf(seq - 1))
    assert.throws(() => writer.flush(), /events 1 to 4096 are stored/)
  })
})
