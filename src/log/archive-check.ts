import type { DatabaseSync } from 'node:sqlite'
import type { Month } from '../protocol/moment.ts'
import type { ArchiveManifest } from '../protocol/resources.ts'
import type { Seq } from '../protocol/seq.ts'
import { openArchiveReader } from './archive-reader.ts'
import type { LinesOf } from './archive-tables.ts'
import { MONTH_FILES, openLines } from './archive-tables.ts'
import { beginBook, endBook, openSegments } from './month-book.ts'
import type { MonthFile, MonthState } from './reader.ts'

/** One step of the check: a segment, or a file's digests at its end. `fault` says what is wrong, null when nothing is. */
export type ArchiveStep = Readonly<{ month: Month; file: MonthFile; fault: string | null }>

/**
 * Makes every stored file of the archive again from the log's lines and compares: each segment's lines, how they
 * join, and a closed month's digests with its manifest. A step at a time, so that a caller may pace it beside a
 * live writer; a file's first fault ends the check of that file.
 */
export function* checkArchive(db: DatabaseSync, head: Seq): Generator<ArchiveStep> {
  const lines = openLines(db)
  for (const state of openArchiveReader(db).months(head)) {
    for (const file of MONTH_FILES) yield* checkFile(db, lines, state, file)
  }
}

function* checkFile(
  db: DatabaseSync,
  lines: LinesOf,
  { month, firstSeq, lastSeq, manifest }: MonthState,
  file: MonthFile,
): Generator<ArchiveStep> {
  const step = (fault: string | null): ArchiveStep => ({ month, file, fault })
  const book = beginBook()
  const readNext = openSegments(db, month, file)
  let first = firstSeq ?? 1
  for (;;) {
    const segment = attempt(() => readNext(book))
    if (segment instanceof Error) {
      yield step(segment.message)
      return
    }
    if (segment === undefined) break
    const same = Buffer.compare(segment.raw, lines(file, first, segment.lastSeq)) === 0
    yield step(same ? null : `the lines of seqs ${first} to ${segment.lastSeq} are not those of the log`)
    if (!same) return
    first = segment.lastSeq + 1
  }
  if (manifest === null) return
  if (lastSeq !== null && lines(file, first, lastSeq).length > 0) {
    yield step(`the lines of seqs ${first} to ${lastSeq} are missing`)
    return
  }
  const recorded: ArchiveManifest = JSON.parse(manifest)
  const expected =
    file === 'events' ? { lines: recorded.lines, gzip: recorded.gzip } : detailsOf(recorded.details)
  const found = endBook(book)
  const same =
    found.lines.sha256 === expected.lines.sha256 &&
    found.gzip.sha256 === expected.gzip.sha256 &&
    found.gzip.bytes === expected.gzip.bytes
  yield step(same ? null : 'the digests are not those of the manifest')
}

function detailsOf(details: ArchiveManifest['details']): Pick<ArchiveManifest, 'lines' | 'gzip'> {
  return { lines: details.lines, gzip: { bytes: details.bytes, sha256: details.sha256 } }
}

/** What is damaged may fail anywhere on its way, in SQLite, in zlib or in our own check: each is the same finding. */
function attempt<T>(read: () => T): T | Error {
  try {
    return read()
  } catch (error) {
    return error instanceof Error ? error : new Error('a segment cannot be read', { cause: error })
  }
}
