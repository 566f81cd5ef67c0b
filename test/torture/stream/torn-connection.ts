import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { resetConnection } from '../history/reset-connection.ts'

/** Ends of a connection by its client. */
export type ConnectionEnd = 'fin' | 'rst' | 'half-close'

/** One connection to a stream that its client ends. */
type TornConnection = Readonly<{
  port: number
  /** Loopback address of the client. */
  from: string
  request: string
  end: ConnectionEnd
  /** Bytes of the answer after which the client ends it. What comes later is not counted as received. */
  bytesMax: number
  /** Whether enough has come; it sees the newest bytes, which may begin inside a message. */
  isEnough: (newest: string) => boolean
}>

/** Answer to a torn connection. */
type TornAnswer = Readonly<{
  bytes: Buffer
  /** Bytes that had come when the client ended it; null when the service ended it. */
  endedAfter: number | null
}>

const MS_MAX = 30_000
/** Characters of former bytes that `isEnough` sees again, so that it sees each message whole. */
const SEEN_AGAIN = 2_000

/**
 * Opens a connection, reads until enough has come, and ends it. Resolves when it is closed, with all received bytes. A
 * service that ends a stream by itself fails it, and so does one that is silent for too long. One that ends the connection
 * before the status of a stream is left to the caller to judge.
 */
export async function readTorn({
  port,
  from,
  request,
  end,
  bytesMax,
  isEnough,
}: TornConnection): Promise<TornAnswer> {
  const chunks: Buffer[] = []
  let length = 0
  let newest = ''
  let endedAfter: number | null = null
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
  const closed = Promise.withResolvers<void>()
  const late = setTimeout(
    () => closed.reject(new Error(`${length} bytes in ${MS_MAX} ms: ${newest}`)),
    MS_MAX,
  )
  socket.on('error', () => undefined)
  socket.once('connect', () => socket.write(request))
  socket.once('close', () => closed.resolve())
  socket.once('end', () => socket.end())
  socket.on('data', (bytes: Buffer) => {
    chunks.push(bytes)
    length += bytes.length
    newest = `${newest.slice(-SEEN_AGAIN)}${bytes.toString('latin1')}`
    // A refusal leaves the connection open for further requests.
    if (length === bytes.length && length >= OK.length && !newest.startsWith(OK)) socket.end()
    if (endedAfter !== null || (length < bytesMax && !isEnough(newest))) return
    endedAfter = length
    if (end === 'rst') resetConnection(socket)
    else if (end === 'fin') socket.destroy()
    else socket.end()
  })
  try {
    await closed.promise
  } finally {
    clearTimeout(late)
    socket.destroy()
  }
  const bytes = Buffer.concat(chunks)
  const isStream = bytes.toString('latin1', 0, OK.length) === OK
  assert.ok(endedAfter !== null || !isStream, 'the service ended the stream by itself')
  // The client of a half-closed connection still reads. Others are as if broken at exactly this byte.
  return { bytes: end === 'half-close' ? bytes : bytes.subarray(0, bytesMax), endedAfter }
}

const OK = 'HTTP/1.1 200'
