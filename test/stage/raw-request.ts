import { connect } from 'node:net'
import { holdDescribed } from './described.ts'

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
  return new Promise((resolve, reject) => {
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
      try {
        holdOne(bytes, text)
        resolve({ text, closedMs: performance.now() - startedMs })
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
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

/** Holds the answer against the OpenAPI document where there was one well-formed request and one whole answer. */
function holdOne(bytes: string, text: string): void {
  const [, method, target] = /^([A-Z]+) (\/\S*) HTTP\/1\.[01]\r\n/.exec(bytes) ?? []
  const [head = '', body] = text.split('\r\n\r\n', 2)
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1])
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(':', 1)[0] ?? '', valueOf(line)]),
  )
  const isOne = text.split('HTTP/1.1 ').length === 2 && bytes.split(' HTTP/1.').length === 2
  // What the parser refuses has no body and no log.
  const isOurs = headers.has('daybook-log')
  const isWhole = Number(headers.get('content-length')) === body?.length && !headers.has('content-encoding')
  if (method === undefined || target === undefined || !isOne || !isOurs) return
  // A body is as many bytes as its head says, read here as one character each.
  const json = isWhole ? { text: Buffer.from(body ?? '', 'latin1').toString() } : {}
  holdDescribed({ method, target, status, headers, ...json })
}

function valueOf(line: string): string {
  return line.slice(line.indexOf(':') + 1).trim()
}
