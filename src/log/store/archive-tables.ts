import type { DatabaseSync } from 'node:sqlite'
import type { MonthFile } from './reader.ts'

/** Segments end at every seq divisible by this, and at the month's end. Part of the public format. */
export const SEGMENT_SEQS = 4096

/**
 * The archive's tables. They are in the store, so that a month closes in the commit of the first event after it.
 *
 * - `months`: a row from the month's first event on. `last_seq`, `events` and `manifest` are set when it closes.
 * - `segments`: `start` is the offset of a segment in the file. `crc` and `raw_bytes` are those of the file's lines up
 *   to the end of the segment; `bytes_crc` is that of the segment's own bytes. A segment without lines has no row.
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
`

export const MONTH_FILES: readonly MonthFile[] = ['events', 'details']

/** Codes of the files in the column `file`. */
export const FILE_CODES: Readonly<Record<MonthFile, number>> = { events: 0, details: 1 }

/** Reads the lines of one file from seq `first` to `last`, both inclusive, each with its newline. */
export type LinesOf = (file: MonthFile, first: number, last: number) => Uint8Array

export function openStoredLines(db: DatabaseSync): LinesOf {
  // SQLite joins the lines into one blob, so that no line becomes a string.
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
