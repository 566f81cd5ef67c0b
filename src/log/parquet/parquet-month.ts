import { createHash } from 'node:crypto'
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../../protocol/brand.ts'
import type { ArchiveManifest } from '../../protocol/endpoints/file-endpoints.ts'
import type { Month } from '../../protocol/moment.ts'
import { BEFORE_FIRST } from '../../protocol/seq.ts'
import { openArchiveReader } from '../archive/archive-reader.ts'
import { openStoredLines, SEGMENT_SEQS } from '../store/archive-tables.ts'
import { FREE_BYTES_MIN, freeBytes, isNoRoom } from '../store/disk-probe.ts'
import { giveOwner } from '../store/file-owner.ts'
import type { LogIdentity, ParquetFile } from '../store/reader.ts'
import { openBeside, readIdentity, storePath } from '../store/store.ts'
import { PARQUET_FORM } from './parquet-columns.ts'
import {
  isKept,
  makingPath,
  openSums,
  type ParquetFacts,
  parquetFolder,
  parquetPath,
  readKept,
  removeOutdated,
} from './parquet-folder.ts'
import { openParquetWriter } from './parquet-writer.ts'

/** The disk has too little room for a Parquet file. */
export class ParquetRoomError extends Error {
  override readonly name = 'ParquetRoomError'
}

/** The Parquet files of a log, for the one thread that makes them. */
type ParquetMaker = Disposable &
  Readonly<{
    /** Closed months without a file, the newest first. Removes files that no month needs. */
    missing(): readonly Month[]
    /** The kept file of a closed month, read whole; undefined without one. Removes it when it is damaged. */
    kept(month: Month, onDamaged: (path: string) => void): ParquetFile | undefined
    /**
     * Makes the file of a closed month. Throws when the lines are not those of the manifest, and a ParquetRoomError when
     * too little of the disk would stay free.
     */
    make(month: Month): ParquetFile
  }>

/** Opens the maker with a connection of its own. `freeBytesMin` bytes of the disk stay free. */
export function openParquetMaker(dataDirectory: string, freeBytesMin: number = FREE_BYTES_MIN): ParquetMaker {
  const db = openBeside(storePath(dataDirectory))
  const folder = parquetFolder(dataDirectory)
  const identity = readIdentity(db)
  const archive = openArchiveReader(db)
  /** Manifest of a closed month, and the facts of its file. */
  function closed(month: Month): Readonly<{ manifest: ArchiveManifest; facts: ParquetFacts }> {
    const stored = archive.month(month, BEFORE_FIRST)?.manifest ?? null
    assert(stored !== null, `the month ${month} is closed`)
    const manifest: ArchiveManifest = JSON.parse(stored)
    return { manifest, facts: factsOf(identity, manifest) }
  }

  return {
    missing() {
      const months = archive.months(BEFORE_FIRST).filter(({ manifest }) => manifest !== null)
      const wanted = new Map(months.map(({ month }) => [month, closed(month).facts]))
      removeOutdated(folder, wanted)
      return [...wanted]
        .filter(([month, facts]) => !isKept(folder, month, facts))
        .map(([month]) => month)
        .toReversed()
    },
    kept: (month, onDamaged) => readKept(folder, month, closed(month).facts, onDamaged),
    make(month) {
      const { manifest, facts } = closed(month)
      return make({ db, folder, freeBytesMin }, month, manifest, facts)
    },
    [Symbol.dispose]: () => db.close(),
  }
}

/** Facts of a month's file: what it was made from, so that a reader can hold it against what is signed. */
function factsOf({ id, origin }: LogIdentity, manifest: ArchiveManifest): ParquetFacts {
  const { month, events, firstSeq, lastSeq, lines, details } = manifest
  return {
    'daybook.form': String(PARQUET_FORM),
    'daybook.logId': id,
    'daybook.origin': origin,
    'daybook.month': month,
    'daybook.events': String(events),
    ...(firstSeq === null || lastSeq === null
      ? {}
      : { 'daybook.firstSeq': String(firstSeq), 'daybook.lastSeq': String(lastSeq) }),
    'daybook.linesSha256': lines.sha256,
    'daybook.detailsLinesSha256': details.lines.sha256,
  }
}

/** Makes a file. It gets its name when it is complete, so that a crash leaves an unfinished file only. */
function make(
  { db, folder, freeBytesMin }: Readonly<{ db: DatabaseSync; folder: string; freeBytesMin: number }>,
  month: Month,
  manifest: ArchiveManifest,
  facts: ParquetFacts,
): ParquetFile {
  const making = makingPath(folder, month)
  rmSync(making, { force: true, recursive: true })
  try {
    const sums = openSums()
    const file = openSync(making, 'wx', 0o600)
    try {
      giveOwner(file, folder)
      writeMonth(db, manifest, facts, (bytes) => {
        if (freeBytes(folder) < freeBytesMin + bytes.length)
          throw new ParquetRoomError(`the disk would have less than ${freeBytesMin} free bytes`)
        for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
        sums.add(bytes)
      })
    } finally {
      closeSync(file)
    }
    const { sha256, ...others } = sums.end()
    const path = parquetPath(folder, month, facts, sha256)
    // Not synced: a file that a power cut has damaged is made again.
    renameSync(making, path)
    return { month, path, sha256, ...others }
  } catch (error) {
    rmSync(making, { force: true, recursive: true })
    throw isNoRoom(error) ? new ParquetRoomError('the disk is full', { cause: error }) : error
  }
}

/** Writes the month's lines, and compares them with the manifest before the footer that makes them readable. */
function writeMonth(
  db: DatabaseSync,
  { month, firstSeq, lastSeq, lines, details }: ArchiveManifest,
  facts: ParquetFacts,
  sink: (bytes: Uint8Array) => void,
): void {
  const linesOf = openStoredLines(db)
  const writer = openParquetWriter(facts, sink)
  const digests = { events: createHash('sha256'), details: createHash('sha256') }
  if (firstSeq !== null && lastSeq !== null) {
    for (let from = firstSeq; from <= lastSeq; from += SEGMENT_SEQS) {
      const to = Math.min(lastSeq, from + SEGMENT_SEQS - 1)
      const read = { events: linesOf('events', from, to), details: linesOf('details', from, to) }
      digests.events.update(read.events)
      digests.details.update(read.details)
      const detailsOf = new Map(textLines(read.details).map((line) => [seqIn(line), line]))
      for (const line of textLines(read.events)) writer.add(line, detailsOf.get(seqIn(line)) ?? null)
    }
  }
  const isRight =
    digests.events.digest('hex') === lines.sha256 && digests.details.digest('hex') === details.lines.sha256
  if (!isRight) throw new Error(`the stored lines of ${month} are not those of its manifest`)
  writer.finish()
}

function textLines(bytes: Uint8Array): readonly string[] {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
}

const SEQ = /^\{"seq":(\d+),/

/** Seq of a line, as text. */
function seqIn(line: string): string {
  return SEQ.exec(line)?.[1] ?? ''
}
