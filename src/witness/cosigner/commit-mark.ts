import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { renameDurably } from '../../log/store/durable-rename.ts'
import { parseWhole } from '../../protocol/seq.ts'

/** File beside the state of a witness with the number of its commits, by which a start detects an older state. */
const MARK_FILE = 'witness-mark'
const OWNER_ONLY = 0o600
const MARK = /^commits ([0-9]+)\n$/

/** Reads the number of commits; null without a file, undefined when the file holds no mark. */
export function readMark(dataDirectory: string): number | null | undefined {
  let found: string
  try {
    found = readFileSync(join(dataDirectory, MARK_FILE), 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  return parseWhole(MARK.exec(found)?.[1] ?? '')
}

/** Writes the number of commits, and returns when it is on the disk. */
export function writeMark(dataDirectory: string, commits: number): void {
  const path = join(dataDirectory, MARK_FILE)
  const making = `${path}.making`
  const file = openSync(making, 'w', OWNER_ONLY)
  try {
    writeSync(file, `commits ${commits}\n`)
  } finally {
    closeSync(file)
  }
  renameDurably(making, path)
}
