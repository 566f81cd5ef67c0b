import { connect, type Socket } from 'node:net'
import { answersOf, type RawAnswer, readAnswers } from './raw-answers.ts'

/** One end of a connection: a publish API, and the address that the connection comes from. */
export type LinkEnds = Readonly<{ port: number; host: string; localAddress: string }>

/** A request of a link, and its method. */
export type LinkRequest = Readonly<{ method: string; bytes: string }>

/** A connection that is used for one set of requests after another. */
export type Link = Disposable &
  Readonly<{
    connected: Promise<void>
    isClosed(): boolean
    /** Writes all requests at once. Settles with their answers, or with fewer when the connection ends before. */
    ask(requests: readonly LinkRequest[]): Promise<readonly RawAnswer[]>
    /** Writes bytes, and closes the connection after this many bytes of answers: with 0, at once. */
    abandon(requests: readonly LinkRequest[], afterBytes: number): Promise<void>
  }>

/** An answer that goes on until it is closed, such as a stream. */
export type LastingAnswer = Disposable &
  Readonly<{ status: number; headers: RawAnswer['headers']; isClosed(): boolean }>

const ANSWERS_MS_MAX = 30_000

function openSocket(ends: LinkEnds): Socket {
  const socket = connect(ends)
  // A server may reset what it did not read.
  socket.on('error', () => socket.destroy())
  socket.setNoDelay(true)
  return socket
}

/** Runs until `done` says that it is over, or the socket closes. Fails after a time limit. */
function whileOpen(socket: Socket, done: (bytes: Buffer) => boolean): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const late = setTimeout(() => {
      end()
      reject(new Error(`no answer within ${ANSWERS_MS_MAX} ms`))
    }, ANSWERS_MS_MAX)
    const take = (chunk: Buffer): void => {
      chunks.push(chunk)
      if (done(Buffer.concat(chunks))) end()
    }
    function end(): void {
      clearTimeout(late)
      socket.off('data', take)
      socket.off('close', end)
      resolve(Buffer.concat(chunks))
    }
    socket.on('data', take)
    socket.once('close', end)
    if (socket.destroyed) end()
  })
}

/** Opens a connection. Requests may be written at once. */
export function openLink(ends: LinkEnds): Link {
  const socket = openSocket(ends)
  const connected = new Promise<void>((resolve) => {
    socket.once('connect', resolve)
    socket.once('close', () => resolve())
  })
  return {
    connected,
    isClosed: () => socket.destroyed || !socket.writable,
    async ask(requests) {
      const methods = requests.map(({ method }) => method)
      const whole = (bytes: Buffer): boolean => {
        try {
          return readAnswers(bytes, methods).length === requests.length
        } catch {
          return false
        }
      }
      const received = whileOpen(socket, whole)
      socket.write(requests.map(({ bytes }) => bytes).join(''), 'latin1')
      return readAnswers(await received, methods)
    },
    async abandon(requests, afterBytes) {
      const received = whileOpen(socket, (bytes) => bytes.length >= afterBytes)
      socket.write(requests.map(({ bytes }) => bytes).join(''), 'latin1')
      if (afterBytes > 0) await received
      // Bytes that are written before the connection is ready are lost with it.
      else await connected
      socket.destroy()
      await received
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/** Asks for an answer that lasts, and settles when its headers have come. It is read only when `reads` says so. */
export async function openLasting(ends: LinkEnds, bytes: string, reads: boolean): Promise<LastingAnswer> {
  const socket = openSocket(ends)
  const received = whileOpen(socket, (some) => some.includes('\r\n\r\n'))
  socket.write(bytes, 'latin1')
  const [answer] = answersOf(await received)
  if (reads) socket.resume()
  else socket.pause()
  return {
    status: answer?.status ?? 0,
    headers: answer?.headers ?? new Map<string, string>(),
    isClosed: () => socket.destroyed,
    [Symbol.dispose]: () => void socket.destroy(),
  }
}
