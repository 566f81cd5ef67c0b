import { connect } from 'node:net'
import { assertDescribed } from './described.ts'

/** Bytes received over one connection, and the time until it closed. */
type RawAnswer = Readonly<{ text: string; closedMs: number }>

/** Default time after which the connection is closed; the answer is what has arrived. */
const WAIT_MS_MAX = 30_000

/**
 * Sends bytes as they are and waits until the server closes or resets the connection. `more` is sent again and again
 * until then.
 */
export function sendRaw(
  port: number,
  bytes: string,
  more?: Readonly<{ text: string; everyMs: number; waitMs?: number }>,
): Promise<RawAnswer> {
  const startedMs = performance.now()
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const trickle = more === undefined ? undefined : setInterval(() => socket.write(more.text), more.everyMs)
    const limit = setTimeout(() => socket.destroy(), more?.waitMs ?? WAIT_MS_MAX)
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => (text += chunk))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      clearInterval(trickle)
      clearTimeout(limit)
      try {
        assertOneDescribed(bytes, text)
        resolve({ text, closedMs: performance.now() - startedMs })
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
    socket.write(bytes, 'latin1')
  })
}

/** A request with `Connection: close` and further header lines. */
export function getRequest(target: string, headers: readonly string[] = [], method = 'GET'): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: daybook.test', 'Connection: close', ...headers, '', ''].join(
    '\r\n',
  )
}

/** Asserts that the answer fits the OpenAPI document, when there is one well-formed request and one answer. */
function assertOneDescribed(bytes: string, text: string): void {
  const [, method, target] = /^([A-Z]+) (\/\S*) HTTP\/1\.[01]\r\n/.exec(bytes) ?? []
  const [head = '', body] = text.split('\r\n\r\n', 2)
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1])
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(':', 1)[0] ?? '', valueOf(line)]),
  )
  const isOne = text.split('HTTP/1.1 ').length === 2 && bytes.split(' HTTP/1.').length === 2
  // A request that Node's parser refuses gets an answer without our headers. The private listener has no CORS.
  const isOurs = headers.has('daybook-log') && headers.has('access-control-allow-origin')
  const isWhole = Number(headers.get('content-length')) === body?.length && !headers.has('content-encoding')
  // Requests that are no well-formed HTTP get a status alone.
  const isBare = (status === 417 || status === 431) && headers.get('content-length') === '0'
  if (method === undefined || target === undefined || !isOne || !isOurs || isBare) return
  // `latin1` gives one character for each byte.
  const json = isWhole ? { text: Buffer.from(body ?? '', 'latin1').toString() } : {}
  assertDescribed({ method, target, status, headers, ...json })
}

function valueOf(line: string): string {
  return line.slice(line.indexOf(':') + 1).trim()
}
