import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib'

// A month's file is one gzip member (RFC 1952), joined from parts without compressing them again. The parts are the
// header, deflate segments that each end on a byte boundary, an empty final block, and the trailer.

/** Header of every member, ten bytes: deflate, no flags, mtime 0, unknown system. */
export const GZIP_HEADER: Uint8Array = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)

/** Empty block with fixed codes and the final bit, which ends the deflate stream. */
const FINAL_BLOCK = Uint8Array.of(0x03, 0x00)
const TRAILER_BYTES = 8

/** CRC-32 and count of the uncompressed bytes so far, for the trailer. */
export type RunningSum = Readonly<{ crc: number; bytes: number }>

export const EMPTY_SUM: RunningSum = { crc: 0, bytes: 0 }

/** The running values with `raw` added. */
export function addToSum(before: RunningSum, raw: Uint8Array): RunningSum {
  return { crc: crc32(raw, before.crc), bytes: before.bytes + raw.length }
}

/**
 * Compresses bytes to raw deflate that can be joined with other segments: it ends on a byte boundary and is not final.
 * The result depends only on `raw` and the version of zlib. Empty input gives empty output.
 */
export function deflateSegment(raw: Uint8Array): Uint8Array {
  if (raw.length === 0) return new Uint8Array(0)
  return deflateRawSync(raw, {
    level: 6,
    windowBits: 15,
    memLevel: 8,
    strategy: constants.Z_DEFAULT_STRATEGY,
    finishFlush: constants.Z_SYNC_FLUSH,
    // Large enough for all output. With a full buffer at the flush, zlib may repeat the flush marker.
    chunkSize: deflateBytesMax(raw.length),
  })
}

/** Most bytes of a stored block of deflate. */
const BLOCK_BYTES_MAX = 0xffff
const BLOCK_HEAD_BYTES = 5

/** Writes bytes as stored blocks without compression (RFC 1951, section 3.2.4). The result depends only on `raw`. */
export function storeSegment(raw: Uint8Array): Uint8Array {
  const blocks = Math.ceil(raw.length / BLOCK_BYTES_MAX)
  const stored = Buffer.alloc(raw.length + blocks * BLOCK_HEAD_BYTES)
  let end = 0
  for (let at = 0; at < raw.length; at += BLOCK_BYTES_MAX) {
    const block = raw.subarray(at, at + BLOCK_BYTES_MAX)
    stored.writeUInt16LE(block.length, end + 1)
    stored.writeUInt16LE(BLOCK_BYTES_MAX - block.length, end + 3)
    stored.set(block, end + BLOCK_HEAD_BYTES)
    end += BLOCK_HEAD_BYTES + block.length
  }
  return stored
}

/**
 * Whether a segment contains exactly these lines, compressed or stored, and can be joined. A segment can be joined when
 * it ends on a byte boundary and does not end the deflate stream.
 */
export function inflatesTo(segment: Uint8Array, raw: Uint8Array): boolean {
  const inflated = inflateWhole(Buffer.concat([segment, FINAL_BLOCK]), raw.length)
  return (
    inflated !== undefined &&
    Buffer.compare(inflated, raw) === 0 &&
    inflateWhole(segment, raw.length) === undefined
  )
}

/** Whether a segment has the form that `storeSegment` writes for `rawBytes` bytes of lines. */
export function isStoredSegment(segment: Uint8Array, rawBytes: number): boolean {
  const raw = inflateWhole(Buffer.concat([segment, FINAL_BLOCK]), rawBytes)
  return raw !== undefined && Buffer.compare(storeSegment(raw), segment) === 0
}

/** Inflates a whole deflate stream; undefined when it is cut, damaged or larger than `bytesMax`. */
function inflateWhole(stream: Uint8Array, bytesMax: number): Uint8Array | undefined {
  try {
    return inflateRawSync(stream, { maxOutputLength: bytesMax + 1 })
  } catch {
    return undefined
  }
}

/** End of a member: the final block, the CRC-32 and the size modulo 2^32, little-endian. */
export function gzipTrailer(of: RunningSum): Uint8Array {
  const trailer = new Uint8Array(FINAL_BLOCK.length + TRAILER_BYTES)
  trailer.set(FINAL_BLOCK)
  const view = new DataView(trailer.buffer)
  view.setUint32(FINAL_BLOCK.length, of.crc, true)
  // It takes a number modulo 2^32.
  view.setUint32(FINAL_BLOCK.length + 4, of.bytes, true)
  return trailer
}

/** Upper bound of the compressed size: at least zlib's own bound for level 6 plus the flush marker. */
function deflateBytesMax(rawBytes: number): number {
  return rawBytes + Math.ceil(rawBytes / 1000) + 256
}
