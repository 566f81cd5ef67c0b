import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renameDurably } from '../../log/store/durable-rename.ts'
import { TableError } from './log-table.ts'
import type { PrimaryKeeper } from './table-session.ts'

/** Form of the file: a system identifier and a timeline. */
const FORM = /^(?<systemId>\d{1,20}) (?<timeline>\d{1,10})\n$/

/** File of the newest primary. `forget` deletes it, when the log leaves its database. */
export type PrimaryFile = PrimaryKeeper & Readonly<{ forget(): void }>

/**
 * Opens the file of the newest PostgreSQL primary that a data directory's node has used: its system identifier and
 * timeline. An operator who moves the log to another database on purpose deletes it.
 */
export function openPrimaryFile(dataDirectory: string): PrimaryFile {
  const path = join(dataDirectory, 'primary')
  return {
    read() {
      if (!existsSync(path)) return null
      const { systemId, timeline } = FORM.exec(readFileSync(path, 'utf8'))?.groups ?? {}
      if (systemId === undefined || timeline === undefined)
        throw new TableError(`${path} names no primary: remove it if the database is the one of this log`)
      return { systemId, timeline: Number(timeline) }
    },
    write({ systemId, timeline }) {
      const making = `${path}.making`
      writeFileSync(making, `${systemId} ${timeline}\n`)
      renameDurably(making, path)
    },
    forget: () => rmSync(path, { force: true }),
  }
}
