import { closeSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { renameDurably } from '../../log/store/durable-rename.ts'
import { parseWhole } from '../../protocol/seq.ts'
import { type FileIdentity, identityOf, isSameFile } from './file-identity.ts'

/** File beside the state of a witness with the number of its commits, by which a start detects an older state. */
const MARK_FILE = 'witness-mark'
const OWNER_ONLY = 0o600
const MARK = /^commits ([0-9]+)\nfile ([0-9]+) (-?[0-9]+)\n$/

/** Number of commits. `isOwn` is false for a mark in another file than the one in which the witness wrote it. */
type CommitMark = Readonly<{ commits: number; isOwn: boolean }>

/** Reads the mark; null without a file, undefined when the file holds no mark. */
export function readMark(dataDirectory: string): CommitMark | null | undefined {
  let file: number
  try {
    file = openSync(join(dataDirectory, MARK_FILE), 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  try {
    const [, decimal = '', inode = '', born = ''] = MARK.exec(readFileSync(file, 'latin1')) ?? []
    const commits = parseWhole(decimal)
    if (commits === undefined) return undefined
    return { commits, isOwn: isSameFile({ inode, born }, fileOf(file)) }
  } finally {
    closeSync(file)
  }
}

/**
 * Writes the number of commits, and returns when it is on the disk. Each mark is a new file and names itself, so that an
 * older one that is copied over it shows.
 */
export function writeMark(dataDirectory: string, commits: number): void {
  const path = join(dataDirectory, MARK_FILE)
  const making = `${path}.making`
  const file = openSync(making, 'w', OWNER_ONLY)
  try {
    const { inode, born } = fileOf(file)
    writeSync(file, `commits ${commits}\nfile ${inode} ${born}\n`)
  } finally {
    closeSync(file)
  }
  renameDurably(making, path)
}

function fileOf(file: number): FileIdentity {
  return identityOf(fstatSync(file, { bigint: true }))
}
