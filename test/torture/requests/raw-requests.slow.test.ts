import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { openApiStage } from '../../stage/api-stage.ts'
import { openCampaign } from '../campaign.ts'
import { mutated } from './mutations.ts'
import { readAnswers } from './raw-answers.ts'

const CAMPAIGN = openCampaign('raw-requests')
const { random, size } = CAMPAIGN
/** Connections at a time. Many of them wait for the limits of the service. */
const LANES = 48
/** The service allows 5 s for headers, and looks each second. */
const CLOSED_MS_MAX = 20_000
const GROWTH_BYTES_MAX = 300 * 1024 * 1024

const request = (line: string, headers: readonly string[] = [], body = ''): string =>
  `${[line, 'Host: daybook.test', ...headers, '', ''].join('\r\n')}${body}`
const REQUESTS: readonly [string, ...string[]] = [
  request('GET /api/v1/events?after=1&limit=2 HTTP/1.1', ['Accept: */*', 'User-Agent: raw']),
  request('HEAD /api/v1/contests?status=paid,running HTTP/1.1'),
  request('OPTIONS /api/v1/flows HTTP/1.1', ['Origin: https://a.test', 'Access-Control-Request-Method: GET']),
  request('GET /api/v1/archive/2026-10.jsonl.gz HTTP/1.1', ['Range: bytes=0-9']),
  request('POST /api/v1/events HTTP/1.1', ['Content-Length: 7'], '{"a":1}'),
  request('POST /api/v1/events HTTP/1.1', ['Transfer-Encoding: chunked'], '4\r\nabcd\r\n0\r\n\r\n'),
  request('GET /api/v1/summary HTTP/1.1', ['Upgrade: websocket', 'Connection: Upgrade']),
  request('GET /api/v1/summary HTTP/1.0', ['Connection: keep-alive']),
  request('GET http://evil.test/api/v1/status HTTP/1.1', ['Expect: 100-continue', 'Content-Length: 0']),
]
/** Header lines that parsers read differently. */
const TRICKS: readonly [string, ...string[]] = [
  'Content-Length: +5',
  'Content-Length: 5, 5',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding\0: chunked',
  'X: y\r\n Transfer-Encoding: chunked',
  'X: y\nTransfer-Encoding: chunked',
  'Host: other.test',
  ': no name',
  `X-Huge: ${'x'.repeat(70_000)}`,
]

/** Bytes for one connection: some requests in a row, of which most are damaged or have a tricky header. */
function drawn(): Buffer {
  const parts = Array.from({ length: random.between(1, 3) }, () => {
    const own = random.pick(REQUESTS)
    const tricky = random.chance(0.25) ? own.replace('\r\n', `\r\n${random.pick(TRICKS)}\r\n`) : own
    return random.chance(0.4)
      ? mutated(random, Buffer.from(tricky, 'latin1'), Buffer.from(random.pick(REQUESTS)))
      : Buffer.from(tricky, 'latin1')
  })
  return Buffer.concat([
    ...parts,
    Buffer.from(request('GET /api/v1/events/2 HTTP/1.1', ['Connection: close'])),
  ])
}

/** Sends bytes over a new connection, and waits until the service has closed it. */
function sent(port: number, bytes: Buffer): Promise<Readonly<{ from: number; received: Buffer }>> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    let from = 0
    const late = setTimeout(() => {
      socket.destroy()
      reject(new Error(`not closed within ${CLOSED_MS_MAX} ms`))
    }, CLOSED_MS_MAX)
    socket.on('connect', () => (from = socket.localPort ?? 0))
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A server that has refused may reset what it did not read.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      clearTimeout(late)
      resolve({ from, received: Buffer.concat(chunks) })
    })
    socket.write(bytes)
  })
}

const TIMEOUT = { timeout: 600_000 + size * 200 }

test(
  'mutated bytes neither break the service nor hang, and get whole answers that are open to every site',
  TIMEOUT,
  async (t) => {
    const methods = new Map<number, string[]>()
    await using stage = await openApiStage({
      server: { keepAliveMs: 500 },
      callerOf({ method = '', socket }) {
        const port = socket.remotePort ?? 0
        methods.set(port, [...(methods.get(port) ?? []), method])
        return 'a caller'
      },
    })
    const seen = { connections: 0, requests: 0, refused: 0, answered: 0 }
    const lane = async (): Promise<void> => {
      while (seen.connections < size) {
        const number = (seen.connections += 1)
        const bytes = drawn()
        try {
          const { from, received } = await sent(stage.port, bytes)
          const read = methods.get(from) ?? []
          methods.delete(from)
          const answers = readAnswers(received, read)
          assert.ok(answers.length <= read.length + 1, 'at most one answer beside those of requests')
          for (const { status, headers } of answers) {
            assert.ok(status < 500, `status ${status}`)
            assert.equal(headers.get('access-control-allow-origin'), '*', `${status} is open to every site`)
          }
          seen.requests += read.length
          seen.refused += answers.some(({ status }) => status === 400) ? 1 : 0
          seen.answered += answers.some(({ status }) => status < 400) ? 1 : 0
        } catch (cause) {
          const shown = JSON.stringify(bytes.toString('latin1').slice(0, 4_000))
          throw new Error(`connection ${number} of seed ${CAMPAIGN.seed}: ${shown}`, { cause })
        }
      }
    }
    const rss = process.memoryUsage.rss()
    await Promise.all(Array.from({ length: LANES }, lane))
    assert.ok(process.memoryUsage.rss() - rss < GROWTH_BYTES_MAX, 'memory stays flat')
    assert.equal((await stage.get('/api/v1/status')).status, 200)
    assert.deepEqual(stage.reported, [], 'no request broke the service')
    CAMPAIGN.finish(t, seen, { connections: size, requests: size / 2, refused: size / 5, answered: size / 5 })
  },
)
