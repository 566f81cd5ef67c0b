import { readFileSync } from 'node:fs'

/** Bytes before the first frame, and of a frame before its page (the file format of SQLite's write-ahead log). */
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const PAGE_BYTES_AT = 8
const SALT_AT = 16

/**
 * Bytes of each commit in a write-ahead log, since it was begun from its start the last time: a commit's last frame
 * says how large the store is, the others say nothing there.
 */
export function commitsOf(path: string): readonly number[] {
  const log = readFileSync(path)
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(PAGE_BYTES_AT)
  const salt = log.readBigUInt64BE(SALT_AT)
  const commits: number[] = []
  let bytes = 0
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    // Frames of an earlier round follow those of this one.
    if (log.readBigUInt64BE(at + 8) !== salt) break
    bytes += frameBytes
    if (log.readUInt32BE(at + 4) === 0) continue
    commits.push(bytes)
    bytes = 0
  }
  return commits
}
