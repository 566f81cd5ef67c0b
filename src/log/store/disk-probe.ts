import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isOverQuota } from '../../protocol/error-reason.ts'
import { storePath } from './store.ts'

/** Temporary file of a probe in the data directory. */
export const PROBE_FILE = 'disk-probe'

/** Free bytes below which publishing may soon stop. A commit may write tens of KiB, and the write-ahead log grows. */
export const FREE_BYTES_MIN: number = 256 * 1024 * 1024

/** Error codes for a file that cannot grow: no space, or a limit on file sizes. */
const FULL_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EFBIG'])
const CHUNK = new Uint8Array(64 * 1024)
const OWNER_ONLY = 0o600

/** Free bytes that this user may use on the disk of a folder or file. */
export function freeBytes(path: string): number {
  const { bsize, bavail } = statfsSync(path)
  return bsize * bavail
}

/**
 * Whether the disk of a data directory is full. Called after the store failed to write, because SQLite names no cause.
 * Writes and syncs about `bytes` bytes of a sparse file, at the offset where the store's larger file ends. A limit on
 * file sizes then fails too. False when the write works or fails for another reason.
 */
export function isDiskFull(dataDirectory: string, bytes: number): boolean {
  const path = join(dataDirectory, PROBE_FILE)
  try {
    try {
      writeProbe(path, largestOf(dataDirectory), bytes)
      return false
    } finally {
      rmSync(path, { force: true })
    }
  } catch (error) {
    return isNoRoom(error)
  }
}

/** Whether a write failed because the disk, a quota or a limit on file sizes is used up. */
export function isNoRoom(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error && 'errno' in error)) return false
  return FULL_CODES.has(error.code) || isOverQuota(error)
}

function writeProbe(path: string, from: number, bytes: number): void {
  const file = openSync(path, 'w', OWNER_ONLY)
  try {
    for (let at = from; at < from + bytes;) at += writeSync(file, CHUNK, 0, CHUNK.length, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Bytes of the larger file: the store or its write-ahead log. */
function largestOf(dataDirectory: string): number {
  const store = storePath(dataDirectory)
  const sizes = [store, `${store}-wal`].map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  return Math.max(...sizes)
}
