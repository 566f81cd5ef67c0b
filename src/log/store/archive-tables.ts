import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { assert } from '../../protocol/brand.ts'
import type { MonthFile } from './reader.ts'

/** A segment ends at every seq divisible by this, and at its month's end. Part of the public format. */
export const SEGMENT_SEQS = 4096

/**
 * The archive's tables, in the same database as the events, so that a month closes in the very commit that
 * publishes an event of a later one. A month has a row from its first event on; `last_seq`, `events` and
 * `manifest` are filled in when it closes. Of a segment, `start` is its first byte's place in the file, `crc`
 * and `raw_bytes` are those of the file's lines up to its end, and `bytes_crc` is of its own bytes. A segment
 * without lines has no row. `digests` has, of the month that got a segment last, the states of SHA-256 over its stored
 * lines and over its stored bytes, so that a restart takes them up without reading the month.
 */
export const ARCHIVE_TABLES: string = `
  CREATE TABLE months(
    month TEXT PRIMARY KEY,
    first_seq INTEGER,
    last_seq INTEGER,
    events INTEGER NOT NULL,
    closed INTEGER NOT NULL,
    manifest TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE segments(
    month TEXT NOT NULL,
    file INTEGER NOT NULL,
    start INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    raw_bytes INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    bytes_crc INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY(month, file, start)
  ) STRICT;
  CREATE TABLE digests(
    file INTEGER PRIMARY KEY,
    month TEXT NOT NULL,
    lines BLOB NOT NULL,
    gzip BLOB NOT NULL
  ) STRICT;
`

export const MONTH_FILES: readonly MonthFile[] = ['events', 'details']

/** How a file of a month is written in the column `file`. */
export const FILE_CODES: Readonly<Record<MonthFile, number>> = { events: 0, details: 1 }

/** Reads the lines of seqs `first` to `last` (both inclusive) of one file, each ended by a newline. */
export type LinesOf = (file: MonthFile, first: number, last: number) => Uint8Array

export function openStoredLines(db: DatabaseSync): LinesOf {
  // The whole block comes as one blob: no string is made of a line on its way.
  const prepare = (table: MonthFile) =>
    db.prepare(`
      SELECT CAST(group_concat(line, char(10)) || char(10) AS BLOB) AS lines
      FROM (SELECT line FROM ${table} WHERE seq BETWEEN ? AND ? ORDER BY seq)`)
  const statements = { events: prepare('events'), details: prepare('details') }
  return (file, first, last) => {
    const lines = statements[file].get(first, last)?.['lines']
    return lines instanceof Uint8Array ? lines : new Uint8Array(0)
  }
}

/** A column that holds an integer. */
export function integerColumn(value: SQLOutputValue | undefined): number {
  assert(typeof value === 'number', 'a column of the archive holds an integer')
  return value
}

/** A column that holds bytes. */
export function bytesColumn(value: SQLOutputValue | undefined): Uint8Array {
  assert(value instanceof Uint8Array, 'a column of the archive holds bytes')
  return value
}
