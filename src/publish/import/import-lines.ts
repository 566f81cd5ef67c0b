import { isUtf8 } from 'node:buffer'
import { createReadStream, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { DRAFT_LINE_BYTES_MAX } from '../../protocol/draft.ts'

/** Consecutive lines of a file. `first` is the number of the first line, from 1. */
type LineBlock = Readonly<{ first: number; lines: readonly string[] }>

/** Reason why the reading of a file ends early, and the line. */
type LineFault = Readonly<{ line: number; reason: string }>

/** File name of standard input. */
export const STDIN = '-'

const READ_BYTES = 256 * 1024
const LINE_FEED = 10
const BYTE_ORDER_MARK = '\uFEFF'

/**
 * Streams the lines of a plain or gzip file. Ends after a fault. Calls `count` with the number of bytes of each chunk.
 * Skips a byte order mark at the beginning.
 */
export async function* readLines(
  path: string,
  count: (bytes: number) => void,
): AsyncGenerator<LineBlock | LineFault, undefined> {
  let line = 1
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const piece of unpacked(path, count)) {
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      const end = bytes.lastIndexOf(LINE_FEED)
      rest = bytes.subarray(end + 1)
      if (end >= 0) {
        const read = decode(bytes.subarray(0, end), line)
        line += read.lines.length
        yield read
        if (read.isBroken) return yield { line, reason: 'is not UTF-8' }
      }
      if (rest.length > DRAFT_LINE_BYTES_MAX) {
        return yield { line, reason: `is longer than ${DRAFT_LINE_BYTES_MAX} bytes` }
      }
    }
  } catch (error) {
    return yield { line, reason: reasonOf(error) }
  }
  // The last line may lack its line feed.
  const read = decode(rest, line)
  yield read
  if (read.isBroken) yield { line, reason: 'is not UTF-8' }
  return undefined
}

/** Decodes complete lines. Stops before the first that is not UTF-8. */
function decode(bytes: Buffer, first: number): LineBlock & Readonly<{ isBroken: boolean }> {
  if (isUtf8(bytes)) return { first, lines: linesOf(bytes, first), isBroken: false }
  let start = 0
  for (;;) {
    const at = bytes.indexOf(LINE_FEED, start)
    const end = at < 0 ? bytes.length : at
    if (!isUtf8(bytes.subarray(start, end))) break
    start = end + 1
  }
  const lines = start === 0 ? [] : linesOf(bytes.subarray(0, start - 1), first)
  return { first, lines, isBroken: true }
}

function linesOf(bytes: Buffer, first: number): string[] {
  const text = bytes.toString('utf8')
  return (first === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text).split('\n')
}

async function* unpacked(path: string, count: (bytes: number) => void): AsyncGenerator<Buffer, undefined> {
  const pieces = piecesOf(path, count)
  let head: Buffer = Buffer.alloc(0)
  // A pipe may deliver its first byte alone.
  while (head.length < 2) {
    const next = await pieces.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  async function* whole(): AsyncGenerator<Buffer, undefined> {
    yield head
    yield* pieces
    return undefined
  }
  if (head[0] !== 0x1f || head[1] !== 0x8b) return yield* whole()
  const gunzip = createGunzip({ chunkSize: READ_BYTES })
  // The loop below throws its failures.
  pipeline(whole(), gunzip, () => undefined)
  for await (const piece of gunzip) if (Buffer.isBuffer(piece)) yield piece
  return undefined
}

async function* piecesOf(path: string, count: (bytes: number) => void): AsyncGenerator<Buffer, undefined> {
  for await (const piece of openSource(path)) {
    if (!Buffer.isBuffer(piece)) continue
    count(piece.length)
    yield piece
  }
  return undefined
}

function openSource(path: string): Readable {
  const options = { highWaterMark: READ_BYTES }
  if (path !== STDIN) return createReadStream(path, options)
  const input = fstatSync(0)
  // A file read that waits for a pipe cannot be cancelled; a socket's can.
  const isPipe = input.isFIFO() || input.isSocket()
  return isPipe ? new Socket({ fd: 0, writable: false }) : createReadStream('', { ...options, fd: 0 })
}

/** Reason why a file cannot be read. The system's message is not used, because it contains paths. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (code === 'Z_BUF_ERROR') return 'is cut off: the gzip data ends in the middle'
  if (code.startsWith('Z_') || code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END') return 'is not valid gzip data'
  return `cannot be read (${code})`
}
