import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'
import { constants, inflateRawSync } from 'node:zlib'
import {
  addToSum,
  EMPTY_SUM,
  GZIP_HEADER,
  gzipTrailer,
  type RunningSum,
} from '../../log/archive/gzip-member.ts'
import { WrongError } from '../../verify/reading/finding.ts'

/** A segment of a month file: its offset, its compressed bytes and its lines, each with its line feed. */
export type MonthPiece = Readonly<{ start: number; bytes: Buffer; raw: Buffer }>

/** Limits of one file: bytes of the lines of one segment, and of all. */
type PieceLimits = Readonly<{ pieceRawBytesMax: number; rawBytesMax: number }>

/** End of each segment: an empty stored block, which a sync flush writes (RFC 1979, section 2.1). */
const FLUSH_MARKER = Buffer.from([0x00, 0x00, 0xff, 0xff])
const TRAILER_BYTES: number = gzipTrailer(EMPTY_SUM).length
const READ_BYTES: number = 256 * 1024
/** Markers inside one segment, which other compressors could write. */
const MARKERS_MAX = 64
/** Compressed bytes beyond the unpacked ones, at most: blocks that do not compress are stored. */
const SPARE_BYTES: number = 1024 * 1024

/**
 * Splits a downloaded month file at its segments, in order, one in memory at a time. `isEnd` says whether a segment ends
 * after these lines. Throws a `WrongError` unless the file is one gzip member of segments, as the archive makes it.
 */
export function* monthPieces(
  path: string,
  place: string,
  limits: PieceLimits,
  isEnd: (raw: Buffer) => boolean,
): Generator<MonthPiece, void> {
  const file = openBytes(path)
  try {
    const header = file.at(0, GZIP_HEADER.length)
    if (Buffer.compare(header, GZIP_HEADER) !== 0)
      throw new WrongError(place, 'is no gzip file of the archive')
    let start = GZIP_HEADER.length
    let sum: RunningSum = EMPTY_SUM
    for (;;) {
      const piece = nextPiece(file, start, place, limits, isEnd)
      if (piece === null) break
      sum = addToSum(sum, piece.raw)
      if (sum.bytes > limits.rawBytesMax)
        throw new WrongError(place, 'has more lines than its events can have')
      start += piece.bytes.length
      file.forget(start)
      yield piece
    }
    const trailer = gzipTrailer(sum)
    if (Buffer.compare(file.at(start, trailer.length + 1), trailer) !== 0)
      throw new WrongError(place, 'is not a complete gzip file of the archive')
  } finally {
    file.close()
  }
}

/** The next segment; null when none begins at `start`. */
function nextPiece(
  file: FileBytes,
  start: number,
  place: string,
  { pieceRawBytesMax }: PieceLimits,
  isEnd: (raw: Buffer) => boolean,
): MonthPiece | null {
  // The trailer may hold the marker by chance.
  if (file.at(start, TRAILER_BYTES + 1).length <= TRAILER_BYTES) return null
  const stored = storedPiece(file, start, pieceRawBytesMax)
  if (stored !== null && isComplete(stored.raw, isEnd)) return checkedPiece(stored, place)
  let from = start
  for (let markers = 0; markers < MARKERS_MAX; markers += 1) {
    const marker = file.find(FLUSH_MARKER, from, start + pieceRawBytesMax + SPARE_BYTES)
    if (marker === null) return null
    const end = marker + FLUSH_MARKER.length
    const bytes = Buffer.from(file.at(start, end - start))
    const raw = inflated(bytes, place, pieceRawBytesMax)
    if (isComplete(raw, isEnd)) return checkedPiece({ start, bytes, raw }, place)
    from = marker + 1
  }
  throw new WrongError(place, 'is not made of the segments of the archive')
}

const LINE_FEED = 10

function isComplete(raw: Buffer, isEnd: (raw: Buffer) => boolean): boolean {
  return raw.at(-1) === LINE_FEED && isEnd(raw)
}

function checkedPiece(piece: MonthPiece, place: string): MonthPiece {
  if (!isUtf8(piece.raw)) throw new WrongError(place, 'is not UTF-8')
  return piece
}

/** Head of a stored block of deflate: its type, its length, and the complement of that (RFC 1951, section 3.2.4). */
const BLOCK_HEAD_BYTES = 5
const BLOCK_BYTES_MAX = 0xffff

/** A segment that is stored without compression, in blocks of which only the last is not full; null for any other. */
function storedPiece(file: FileBytes, start: number, rawBytesMax: number): MonthPiece | null {
  const blocks: Buffer[] = []
  for (let at = start; at - start <= rawBytesMax + SPARE_BYTES;) {
    const head = file.at(at, BLOCK_HEAD_BYTES)
    if (head.length < BLOCK_HEAD_BYTES || head[0] !== 0) return null
    const bytes = head.readUInt16LE(1)
    if (bytes === 0 || bytes + head.readUInt16LE(3) !== BLOCK_BYTES_MAX) return null
    const block = file.at(at + BLOCK_HEAD_BYTES, bytes)
    if (block.length < bytes) return null
    blocks.push(Buffer.from(block))
    at += BLOCK_HEAD_BYTES + bytes
    if (bytes < BLOCK_BYTES_MAX)
      return { start, bytes: Buffer.from(file.at(start, at - start)), raw: Buffer.concat(blocks) }
  }
  return null
}

function inflated(bytes: Uint8Array, place: string, rawBytesMax: number): Buffer {
  try {
    const finishFlush = constants.Z_SYNC_FLUSH
    return inflateRawSync(bytes, { finishFlush, maxOutputLength: rawBytesMax })
  } catch (cause) {
    throw new WrongError(place, 'has a segment that cannot be unpacked', { cause })
  }
}

/** Bytes of a file around a place that moves forward. */
type FileBytes = Readonly<{
  /** The bytes from an offset on: fewer at the end of the file. */
  at(start: number, length: number): Buffer
  /** Offset of the first occurrence from `from` on that begins before `to`; null when there is none. */
  find(pattern: Buffer, from: number, to: number): number | null
  /** Bytes before this offset are not asked for again. */
  forget(before: number): void
  close(): void
}>

function openBytes(path: string): FileBytes {
  const file = openSync(path, 'r')
  let base = 0
  let held = Buffer.alloc(0)
  let isWhole = false

  function more(): void {
    const block = Buffer.allocUnsafe(Math.max(READ_BYTES, held.length))
    const read = readSync(file, block, 0, block.length, base + held.length)
    if (read === 0) isWhole = true
    else held = Buffer.concat([held, block.subarray(0, read)])
  }

  return {
    at(start, length) {
      while (!isWhole && base + held.length < start + length) more()
      return held.subarray(start - base, start - base + length)
    },
    find(pattern, from, to) {
      let searched = from
      for (;;) {
        const found = held.indexOf(pattern, searched - base)
        if (found >= 0) return base + found < to ? base + found : null
        searched = Math.max(from, base + held.length - pattern.length + 1)
        if (isWhole || searched >= to) return null
        more()
      }
    },
    forget(before) {
      held = held.subarray(before - base)
      base = before
    },
    close: () => closeSync(file),
  }
}
