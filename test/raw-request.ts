import { connect } from 'node:net'

/** What came back over one connection, and how long it stayed open. */
export type RawAnswer = Readonly<{ text: string; closedMs: number }>

/** The connection is cut by then, and the answer is what had come. */
const WAIT_MS_MAX = 10_000

/**
 * Sends bytes as they are and waits until the other side closes; `more` is sent on from time to time.
 * A connection that is cut by the other side counts as closed.
 */
export function sendRaw(
  port: number,
  bytes: string,
  more?: Readonly<{ text: string; everyMs: number }>,
): Promise<RawAnswer> {
  const startedMs = performance.now()
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const trickle = more === undefined ? undefined : setInterval(() => socket.write(more.text), more.everyMs)
    const limit = setTimeout(() => socket.destroy(), WAIT_MS_MAX)
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => (text += chunk))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      clearInterval(trickle)
      clearTimeout(limit)
      resolve({ text, closedMs: performance.now() - startedMs })
    })
    socket.write(bytes, 'latin1')
  })
}

/** A GET that asks for the connection to be closed, with further header lines. */
export function getRequest(target: string, headers: readonly string[] = [], method = 'GET'): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: daybook.test', 'Connection: close', ...headers, '', ''].join(
    '\r\n',
  )
}
