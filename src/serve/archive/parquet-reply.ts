import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import {
  type LogReader,
  type MonthState,
  PARQUET_PIECE_BYTES,
  type ParquetFile,
} from '../../log/store/reader.ts'
import type { Month } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { Problem } from '../../protocol/problem.ts'
import { problemReply, type Reply, type StreamAsk } from '../http/route.ts'
import { formatFileName, monthNotFound } from './file-name.ts'
import { askedBytes, limitStall } from './immutable-file.ts'

const TYPE = 'application/vnd.apache.parquet'

/** Most bytes of a chunk: whole pieces. */
const CHUNK_BYTES_MAX = 16 * PARQUET_PIECE_BYTES

/** Longest wait for a file that is not made yet, within the time limit of an answer. */
const WAIT_MS_MAX = 20_000

/** Reason why a file was not made: too little room on the disk, or a fault that a log line names. */
export type NoParquet = 'no-room' | 'failed'

/** The Parquet files of the process, which one thread makes. */
export type ParquetFiles = Readonly<{
  /** The file of a closed month, when it is made. Rejects when the service stops. */
  file(month: Month): Promise<ParquetFile | NoParquet>
  /** Receives a file whose bytes are no longer right. It is made again when it is next asked for. */
  lost(file: ParquetFile): void
}>

/** Files of a thread that sends none. */
export const NO_PARQUET: ParquetFiles = {
  file: () => Promise.reject(new Error('this thread sends no files')),
  lost: () => undefined,
}

/** Reply with the Parquet file of a month. */
type ParquetReply = (ask: StreamAsk, month: Month) => Reply | Promise<Reply>

/** Opens the replies with Parquet files. `waitMsMax` is the longest wait for a file that is not made yet. */
export function openParquetReplies(
  log: LogReader,
  files: ParquetFiles,
  waitMsMax: number = WAIT_MS_MAX,
): ParquetReply {
  const known = new Map<Month, ParquetFile>()

  /** The file of a month; `late` if it is not made in time. */
  async function fileOf(month: Month): Promise<ParquetFile | NoParquet | 'late'> {
    const found = known.get(month)
    if (found !== undefined) return found
    const ended = new AbortController()
    const late = sleep(waitMsMax, 'late' as const, { signal: ended.signal }).catch(() => 'late' as const)
    const file = await Promise.race([files.file(month), late]).finally(() => ended.abort())
    if (typeof file === 'object') known.set(month, file)
    return file
  }

  function forget(file: ParquetFile): void {
    if (known.get(file.month) === file) known.delete(file.month)
    files.lost(file)
  }

  async function reply(ask: StreamAsk, state: MonthState, tries: number): Promise<Reply> {
    const { month, lastSeq } = state
    const file = await fileOf(month)
    if (typeof file === 'string') return problemReply(NOT_MADE[file])
    const name = formatFileName(month, 'parquet')
    const asked = askedBytes(ask, { name, type: TYPE, ...file, lastSeq })
    if (asked.is !== 'asked') return asked
    if (ask.method === 'HEAD') return asked.reply(() => [])
    const { from, to } = asked
    let first: Uint8Array
    try {
      first = await readChunk(file, from, to)
    } catch (error) {
      forget(file)
      if (tries === 1) throw error
      return await reply(ask, state, tries - 1)
    }
    limitStall(ask)
    return asked.reply(async function* () {
      yield first
      try {
        for (let at = from + first.length; at < to;) {
          const chunk = await readChunk(file, at, to)
          yield chunk
          at += chunk.length
        }
      } catch (error) {
        // The client retries a broken transfer.
        forget(file)
        throw error
      }
    })
  }

  return (ask, month) => {
    const state = log.snapshot((snapshot) => snapshot.month(month))
    if (state === undefined) return log.snapshot((snapshot) => monthNotFound(snapshot.months()))
    return state.manifest === null ? problemReply(openMonth(month)) : reply(ask, state, 2)
  }
}

const NOT_MADE: Readonly<Record<NoParquet | 'late', Problem>> = {
  late: {
    code: 'not-made',
    detail: 'The file is being made. A large month takes a minute or two.',
    retryAfterSeconds: 10,
  },
  'no-room': {
    code: 'not-made',
    detail: 'The disk of this node has too little room for the file. The month’s JSON lines are there.',
    retryAfterSeconds: 60,
  },
  failed: {
    code: 'not-made',
    detail: 'This node could not make the file. The month’s JSON lines are there.',
    retryAfterSeconds: 600,
  },
}

function openMonth(month: Month): Problem {
  const lines = `${ENDPOINT_PATHS.archive}/${formatFileName(month, 'events')}`
  const detail = `Parquet files are of closed months. This month is open: use ${lines}.`
  return { code: 'month-not-found', detail }
}

/** First bytes of a stretch, whose pieces are compared with their sums. Rejects for a file that is not as it was. */
async function readChunk({ path, crcs, bytes }: ParquetFile, from: number, to: number): Promise<Uint8Array> {
  const begin = from - (from % PARQUET_PIECE_BYTES)
  const last = Math.min(to, begin + CHUNK_BYTES_MAX)
  const end = Math.min(bytes, last + PARQUET_PIECE_BYTES - 1 - ((last - 1) % PARQUET_PIECE_BYTES))
  const buffer = new Uint8Array(end - begin)
  const file = await open(path)
  try {
    for (let read = 0; read < buffer.length;) {
      const { bytesRead } = await file.read(buffer, read, buffer.length - read, begin + read)
      if (bytesRead === 0) throw new Error(`${path} ends early`)
      read += bytesRead
    }
  } finally {
    await file.close()
  }
  for (let at = 0; at < buffer.length; at += PARQUET_PIECE_BYTES) {
    const isRight =
      crc32(buffer.subarray(at, at + PARQUET_PIECE_BYTES)) === crcs[(begin + at) / PARQUET_PIECE_BYTES]
    if (!isRight) throw new Error(`${path} is damaged at byte ${begin + at}`)
  }
  return buffer.subarray(from - begin, last - begin)
}
