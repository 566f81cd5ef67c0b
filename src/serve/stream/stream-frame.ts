import type { Ms } from '../../protocol/moment.ts'
import { formatAt } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'

/** How a stream writes what it says: Server-Sent Events or JSON lines. */
export type StreamFraming = 'sse' | 'ndjson'

/** What the stream reports about itself: the last seq scanned, the head, and whether it has reached it. */
export type Position = Readonly<{ seq: Seq; head: Seq; live: boolean; atMs: Ms }>

/** The same bytes bare (HTTP/1.0) and as one chunk (HTTP/1.1); made once, written to any number of sockets. */
export type Packet = Readonly<{ bare: Buffer; chunk: Buffer }>

/** The wait before a browser connects again, in whole milliseconds. JSON lines have no such word. */
export function formatRetry(framing: StreamFraming, ms: number): string {
  return framing === 'sse' ? `retry: ${ms}\n\n` : ''
}

/** One position; `atMs` is the server's present. */
export function formatPosition(framing: StreamFraming, position: Position): string {
  const { seq, head, live, atMs } = position
  const data = JSON.stringify({ seq, head, live, at: formatAt(atMs), atMs })
  return framing === 'sse' ? `event: position\nid: ${seq}\ndata: ${data}\n\n` : `{"position":${data}}\n`
}

/** Frames bytes as one HTTP chunk; they must not be empty, since an empty chunk ends a body. */
export function packetOf(bytes: Uint8Array): Packet {
  const length = `${bytes.byteLength.toString(16)}\r\n`
  // Not out of Node's pool: a page that lives long would keep a whole slab of it alive.
  const chunk = Buffer.allocUnsafeSlow(length.length + bytes.byteLength + 2)
  chunk.write(length, 0, 'latin1')
  chunk.set(bytes, length.length)
  chunk.write('\r\n', length.length + bytes.byteLength, 'latin1')
  return { bare: chunk.subarray(length.length, length.length + bytes.byteLength), chunk }
}

const LINE_START = '{"seq":'

/** The seq of the last event in a stretch of frames; undefined when there is none. */
export function lastSeqIn(frames: Buffer): number | undefined {
  // No value of an event's line can hold a brace or a quote, so that this stands only where a line begins.
  const start = frames.lastIndexOf(LINE_START)
  if (start < 0) return undefined
  const end = frames.indexOf(',', start)
  return Number(frames.toString('latin1', start + LINE_START.length, end))
}
