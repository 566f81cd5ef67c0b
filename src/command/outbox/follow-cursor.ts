import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import {
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { asPathError, checkFile } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import { CommandError } from '../terminal/world.ts'

/** Bytes before the place whose digest shows that a file is still the same. */
const MARK_BYTES = 256

/** Place in a file: all lines before it are in the log. */
export type FilePlace = Readonly<{
  /** Decimal: some file systems have inodes that a number cannot hold. */
  inode: string
  /** Birth time of the file in nanoseconds; null in the cursor of an older Daybook. */
  born: string | null
  offset: number
  line: number
  mark: string
}>

/** Place of a cursor file, with the id of the log that has the lines before it; null when that is not known. */
export type SavedPlace = FilePlace & Readonly<{ log: string | null }>

/** A place as a cursor file has it. Older ones have the inode as a number, and less of the rest. */
type OlderPlace = Omit<SavedPlace, 'inode' | 'born' | 'log'> &
  Readonly<{ inode: string | number; born?: string | null; log?: string | null }>

/** Identity of a file, which one that gets its inode later does not share. */
export function fileIdentityOf({
  ino,
  birthtimeNs,
}: Pick<BigIntStats, 'ino' | 'birthtimeNs'>): Readonly<{ inode: string; born: string }> {
  return { inode: String(ino), born: String(birthtimeNs) }
}

/** Digest of the bytes before an offset. */
export function markOf(file: number, offset: number): string {
  const bytes = Buffer.alloc(Math.min(offset, MARK_BYTES))
  const read = readSync(file, bytes, 0, bytes.length, offset - bytes.length)
  return createHash('sha256').update(bytes.subarray(0, read)).digest('hex')
}

/** Writes the place in one step: a crash or a power cut leaves the old place or the new one. */
export function savePlace(path: string, place: SavedPlace): void {
  try {
    // On the disk before the rename, which a power cut may keep without the bytes.
    writeFileSync(`${path}.next`, `${JSON.stringify(place)}\n`, { flush: true })
    renameSync(`${path}.next`, path)
  } catch (error) {
    throw asPathError(error, '--cursor')
  }
}

/** Reads the file of `--cursor`, which need not exist. */
export function readPlace(path: string): SavedPlace | null {
  checkFile(path, '--cursor')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw asPathError(error, '--cursor')
  }
  try {
    const { born = null, offset, line, mark, log = null, ...place }: OlderPlace = JSON.parse(text)
    const inode = String(place.inode)
    const isWhole = [offset, line].every((value) => Number.isSafeInteger(value) && value >= 0)
    const isMarked = typeof mark === 'string' && [born, log].every(isTextOrNull)
    if (/^\d{1,20}$/.test(inode) && isWhole && isMarked) return { inode, born, offset, line, mark, log }
  } catch {
    // Reported below, like any other content.
  }
  throw new CommandError(2, `--cursor: ${shellQuoted(path)} is not a cursor file of publish; remove it`)
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string'
}

/**
 * Opens the file of a saved place, also when it has been renamed within its folder since. A file that was cut begins
 * again. Throws when the file is gone, because its last lines may not have been published. Another file may have got its
 * inode, but was born later.
 */
export function openAtPlace(
  path: string,
  place: FilePlace,
): Readonly<{ file: number; offset: number; line: number }> {
  const folder = dirname(path)
  const others = readdirSync(folder).map((name) => join(folder, name))
  for (const candidate of [path, ...others]) {
    const found = statSync(candidate, { throwIfNoEntry: false, bigint: true })
    if (found?.isFile() !== true) continue
    const { inode, born } = fileIdentityOf(found)
    if (inode !== place.inode || (place.born !== null && born !== place.born)) continue
    const file = openSync(candidate, 'r')
    if (fstatSync(file).size < place.offset) return { file, offset: 0, line: 0 }
    if (markOf(file, place.offset) === place.mark) return { file, offset: place.offset, line: place.line }
  }
  throw new CommandError(
    1,
    `${shellQuoted(path)} is another file than that of the cursor: publish the older file whole, then remove the cursor file`,
  )
}
