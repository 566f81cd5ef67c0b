import { formatAt, type Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'

/** Format of a stream: Server-Sent Events or JSON lines. */
export type StreamFraming = 'sse' | 'ndjson'

/** Position of a stream: the last seq scanned, the head, and whether the stream is live. */
export type Position = Readonly<{ seq: Seq; head: Seq; live: boolean; atMs: Ms }>

/** Bytes to write, bare (HTTP/1.0) and as one chunk (HTTP/1.1). One packet is written to many sockets. */
export type Packet = Readonly<{ bare: Buffer; chunk: Buffer }>

/** Frame with the time before a browser reconnects, in whole milliseconds; empty for JSON lines. */
export function formatRetry(framing: StreamFraming, ms: number): string {
  return framing === 'sse' ? `retry: ${ms}\n\n` : ''
}

/** Frame of a position. `atMs` is the server's clock. */
export function formatPosition(framing: StreamFraming, position: Position): string {
  const { seq, head, live, atMs } = position
  const data = JSON.stringify({ seq, head, live, at: formatAt(atMs), atMs })
  return framing === 'sse' ? `event: position\nid: ${seq}\ndata: ${data}\n\n` : `{"position":${data}}\n`
}

/** Frames bytes as one HTTP chunk. They must not be empty, because an empty chunk ends a body. */
export function packetOf(bytes: Uint8Array): Packet {
  const length = `${bytes.byteLength.toString(16)}\r\n`
  // Not from Node's buffer pool, because a cached page would keep a whole slab of it in memory.
  const chunk = Buffer.allocUnsafeSlow(length.length + bytes.byteLength + 2)
  chunk.write(length, 0, 'latin1')
  chunk.set(bytes, length.length)
  chunk.write('\r\n', length.length + bytes.byteLength, 'latin1')
  return { bare: chunk.subarray(length.length, length.length + bytes.byteLength), chunk }
}

const LINE_START = '{"seq":'

/** Seq of the last event in some frames; undefined when there is none. */
export function lastSeqIn(frames: Buffer): number | undefined {
  // No value in an event's line can contain a brace or a quote, so this text is always the start of a line.
  const start = frames.lastIndexOf(LINE_START)
  if (start < 0) return undefined
  const end = frames.indexOf(',', start)
  return Number(frames.toString('latin1', start + LINE_START.length, end))
}
