import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DatabaseSync, StatementSync } from 'node:sqlite'
import { after, before, suite, test } from 'node:test'
import { makeHistory } from '../../../test/mirror/mirroring-stage.ts'
import { addToSum, EMPTY_SUM, GZIP_HEADER, gzipTrailer, storeSegment } from '../../log/archive/gzip-member.ts'
import { FILE_CODES, MONTH_FILES, openStoredLines, SEGMENT_SEQS } from '../../log/store/archive-tables.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import { isFull } from '../../log/store/sqlite-error.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { formatAt, monthOf } from '../../protocol/moment.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import type { MonthFiles } from '../months/file-entries.ts'
import { readEntry } from '../proof/mirror-entry.ts'
import { MismatchError, openMirrorBook } from './mirror-book.ts'

/** The open month has one whole segment, and a part of the next. */
const EVENTS = 2 * SEGMENT_SEQS + 50

/** The segments of the open month's file, without compression, as another zlib could have published them. */
function publishedSegments(db: DatabaseSync, file: MonthFile, firstSeq: number): readonly Uint8Array[] {
  const lines = openStoredLines(db)
  return [lines(file, firstSeq, 2 * SEGMENT_SEQS), lines(file, 2 * SEGMENT_SEQS + 1, EVENTS)]
}

function memberOf(segments: readonly Uint8Array[]): Buffer {
  const sum = segments.reduce(addToSum, EMPTY_SUM)
  return Buffer.concat([GZIP_HEADER, ...segments.map(storeSegment), gzipTrailer(sum)])
}

const segmentsOf = (db: DatabaseSync): unknown =>
  db
    .prepare('SELECT month, file, start, last_seq, crc, bytes_crc FROM segments ORDER BY month, file, start')
    .all()

suite('the segments of a month that an origin has published', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-mirror-book-'))
  const data = join(folder, 'data')
  const path = join(folder, 'month.gz')
  let db: DatabaseSync
  let book: ReturnType<typeof openMirrorBook>
  let files: MonthFiles

  before(async () => {
    await makeHistory(data, EVENTS)
    db = openForWriting(storePath(data))
    book = openMirrorBook(db)
    const { atMs } = book.head()
    assert.ok(atMs !== null)
    const month = monthOf(atMs)
    const firstSeq = Number(
      db.prepare('SELECT first_seq AS seq FROM months WHERE month = ?').get(month)?.['seq'],
    )
    assert.ok(firstSeq > SEGMENT_SEQS && firstSeq < 2 * SEGMENT_SEQS)
    const downloaded = (file: MonthFile) => ({ path: `${path}.${file}`, place: file, lastSeq: null })
    files = {
      month,
      firstSeq,
      lastSeq: EVENTS,
      files: { events: downloaded('events'), details: downloaded('details') },
    }
  })
  after(() => {
    db.close()
    rmSync(folder, { recursive: true })
  })

  function publish(changed: (events: readonly Uint8Array[]) => Uint8Array = memberOf): void {
    for (const file of MONTH_FILES) {
      const segments = publishedSegments(db, file, files.firstSeq)
      writeFileSync(files.files[file].path, file === 'events' ? changed(segments) : memberOf(segments))
    }
  }

  /** Asserts that nothing was changed, and that the book can begin again. */
  function refuses(expected: (error: unknown) => boolean): void {
    const present = segmentsOf(db)
    assert.throws(() => book.serveMonth(files), expected)
    assert.deepEqual(segmentsOf(db), present)
    assert.equal(book.head().seq, EVENTS)
    book.begin()
    book.rollback()
  }

  for (const [name, changed, error] of [
    ['of a file that is none of an archive', () => Buffer.from('no gzip'), WrongError],
    ['that hold fewer lines', (events) => memberOf(events.slice(1)), MismatchError],
    ['that hold other lines', (events) => memberOf(events.map(withOtherAmount)), MismatchError],
  ] satisfies readonly (readonly [string, (events: readonly Uint8Array[]) => Uint8Array, unknown])[]) {
    test(`change nothing when they are segments ${name}`, () => {
      publish(changed)
      refuses((thrown) => thrown instanceof error)
    })
  }

  test('change nothing on a full disk, and take the place of the own ones when there is room', () => {
    publish()
    const pages = Number(db.prepare('PRAGMA page_count').get()?.['page_count'])
    db.exec(`PRAGMA max_page_count = ${pages}`)
    refuses(isFull)
    db.exec('PRAGMA max_page_count = 1000000')
    book.serveMonth(files)
    const [first = new Uint8Array(0)] = publishedSegments(db, 'events', files.firstSeq)
    const row = db
      .prepare('SELECT bytes FROM segments WHERE month = ? AND file = ?')
      .get(files.month, FILE_CODES.events)
    const bytes = row?.['bytes']
    assert.ok(bytes instanceof Uint8Array && Buffer.compare(bytes, storeSegment(first)) === 0)
  })
})

suite('an event of an origin', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-mirror-event-'))
  after(() => rmSync(folder, { recursive: true }))

  test('is not called wrong when the store cannot be read', async (t) => {
    const data = join(folder, 'data')
    await makeHistory(data, 500)
    const db = openForWriting(storePath(data))
    const book = openMirrorBook(db)
    const last = db.prepare(`SELECT line FROM events WHERE line LIKE '%"play"%' ORDER BY seq DESC`).get()
    const { seq, notBefore } = book.next()
    const play = { ...JSON.parse(String(last?.['line'])), seq, at: formatAt(notBefore), atMs: notBefore }
    const take = (): void => book.take(readEntry(JSON.stringify(play), null, book.next()))
    book.begin()
    take()
    book.rollback()

    book.begin()
    const full = Object.assign(new Error('database or disk is full'), { errcode: 13 })
    const reading = t.mock.method(StatementSync.prototype, 'get', () => {
      throw full
    })
    assert.throws(take, (error) => error === full)
    assert.ok(reading.mock.callCount() > 0)
    reading.mock.restore()
    book.rollback()
    book.begin()
    take()
    book.rollback()
    db.close()
  })
})

/** The lines with another first amount, and as many bytes. */
function withOtherAmount(lines: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(lines).toString().replace('"kots":"1', '"kots":"2'))
}
