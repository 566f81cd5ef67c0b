import { PRECONDITION_FAILED } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import { allows } from '../http/etag.ts'
import { problemReply, type Reply, type StreamAsk } from '../http/route.ts'
import { allowsRange, parseByteRange } from './byte-range.ts'

/**
 * Time without progress after which a transfer ends. It is longer than that of a stream, because a slow client first
 * reads some megabytes from the kernel's buffer.
 */
const STALL_MS_MAX = 120_000

/** File that never changes. */
type ImmutableFile = Readonly<{
  name: string
  type: string
  bytes: number
  /** SHA-256 in hex. */
  sha256: string
  /** Last seq of the month; null without events. */
  lastSeq: Seq | null
}>

type Chunks = Extract<Reply, { is: 'file' }>['chunks']

/** Bytes to send, `from` inclusive, `to` exclusive. `reply` makes the reply of their chunks. */
type AskedBytes = Readonly<{ is: 'asked'; from: number; to: number; reply(chunks: Chunks): Reply }>

/** The bytes that a request asks of a file, or the whole reply when it asks none. The file supports ranges. */
export function askedBytes(
  ask: StreamAsk,
  { name, type, bytes, sha256, lastSeq }: ImmutableFile,
): Reply | AskedBytes {
  const etag = `"sha256-${sha256}"`
  const headers = {
    'Accept-Ranges': 'bytes',
    'Content-Disposition': disposition(name),
    'Repr-Digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
    'Daybook-Archive-State': 'closed',
    ...(lastSeq === null ? {} : { 'Daybook-Last-Seq': String(lastSeq) }),
  }
  const caching = { keep: 'immutable', etag } as const
  // Before the range, which may be one of another version of the file.
  if (!allows(ask.header('if-match'), etag)) return problemReply(PRECONDITION_FAILED)
  if (ask.holds(etag)) return { is: 'unchanged', compress: false, ...caching, headers }

  // RFC 9110 defines ranges for GET only.
  const ranged = ask.method === 'GET' && allowsRange(ask.header('if-range'), etag)
  const range = ranged ? parseByteRange(ask.header('range'), bytes) : undefined
  if (range === 'unsatisfiable') {
    const problem = { code: 'range-not-satisfiable', detail: `The file has ${bytes} bytes.` } as const
    return problemReply(problem, { 'Accept-Ranges': 'bytes', 'Content-Range': `bytes */${bytes}` })
  }
  const { from, to } = range ?? { from: 0, to: bytes }
  const common = { is: 'file', type, bytes: to - from, ...caching } as const
  const reply = (chunks: Chunks): Reply =>
    range === undefined
      ? { ...common, chunks, status: 200, headers }
      : {
          ...common,
          chunks,
          status: 206,
          headers: { ...headers, 'Content-Range': `bytes ${from}-${to - 1}/${bytes}` },
        }
  return { is: 'asked', from, to, reply }
}

/** Header that names a file for the disk. */
export function disposition(name: string): string {
  return `attachment; filename="${name}"`
}

/** Ends the transfer of a caller that reads nothing for two minutes. */
export function limitStall({ response }: StreamAsk): void {
  // A response that times out closes its connection, because it has no `timeout` listener.
  response.setTimeout(STALL_MS_MAX)
}
