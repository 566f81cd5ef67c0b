import type { Random } from '../../../sim/random.ts'

/** Bytes for one connection, and the names of the mutations in them. */
export type RawCase = Readonly<{ bytes: Buffer; mutations: readonly string[] }>

const HOST = 'Host: daybook.test'

const request = (line: string, headers: readonly string[] = [], body = ''): string =>
  `${[line, HOST, ...headers, '', ''].join('\r\n')}${body}`

/** Well-formed requests, from which all cases are made. */
const REQUESTS: readonly [string, ...string[]] = [
  request('GET /api/v1/summary HTTP/1.1'),
  request('GET /api/v1/events?after=1&limit=2 HTTP/1.1', ['Accept: */*', 'User-Agent: raw']),
  request('GET /api/v1/events/1 HTTP/1.1', ['If-None-Match: "x", W/"y"']),
  request('HEAD /api/v1/contests?status=paid,running HTTP/1.1'),
  request('OPTIONS /api/v1/flows HTTP/1.1', ['Origin: https://a.test', 'Access-Control-Request-Method: GET']),
  request('GET /api/v1/archive/2026-10.jsonl.gz HTTP/1.1', ['Range: bytes=0-9']),
  request('GET /api/v1/nothing?x=%20y#z HTTP/1.1', ['X-Forwarded-For: 203.0.113.9']),
  request('POST /api/v1/events HTTP/1.1', ['Content-Length: 7'], '{"a":1}'),
  request('POST /api/v1/events HTTP/1.1', ['Transfer-Encoding: chunked'], '4\r\nabcd\r\n0\r\n\r\n'),
  request('GET /api/v1/status HTTP/1.1', ['Content-Length: 0']),
  request('GET /api/v1/status HTTP/1.1', ['Expect: 100-continue']),
  request('GET /api/v1/summary HTTP/1.1', ['Upgrade: websocket', 'Connection: Upgrade']),
  request('GET /api/v1/summary HTTP/1.0', ['Connection: keep-alive']),
  request('HEAD /api/v1/stream HTTP/1.1'),
  request('DELETE /api/v1/events/1 HTTP/1.1'),
]

/** Header lines that parsers read differently. */
const TRICKS: readonly [string, ...string[]] = [
  'Content-Length: 0',
  'Content-Length: 5',
  'Content-Length: +5',
  'Content-Length: -1',
  'Content-Length: 5, 5',
  'Content-Length: 0x5',
  'Content-Length:\t5',
  'Content-Length: 5 ',
  'Content-Length : 5',
  'Content-Length: 99999999999999999999',
  'Content-Length:',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity',
  'Transfer-Encoding:\u000bchunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding\0: chunked',
  'Transfer-Encoding: Chunked',
  'Transfer-Encoding: "chunked"',
  ' Transfer-Encoding: chunked',
  'X: y\r\n Transfer-Encoding: chunked',
  'X: y\rTransfer-Encoding: chunked',
  'X: y\nTransfer-Encoding: chunked',
  'Connection: close, Content-Length',
  'Connection: keep-alive',
  'Connection: close',
  'Host: other.test',
  'Host : other.test',
  'Host:',
  'X-Nul: a\0b',
  'X-High: \u0080\u00ff',
  ': no name',
  'no colon',
  '\tfolded',
  '',
]

const TARGETS: readonly [string, ...string[]] = [
  '*',
  '/',
  '//evil.test/api/v1/summary',
  'http://evil.test/api/v1/summary',
  'https://daybook.test:443/api/v1/events/1?x=1',
  'evil.test:443',
  '/api/v1/events/1 /x',
  '/api/v1/events/1\u00a0x',
  '/api/v1/events/\u00e9',
  '/api/v1/events/1%',
  '/api/v1/events/%31',
  '/api/v1/../v1/events/1',
  '/api/v1/./events/1',
  '/api/v1/events/1?a=b?c=d',
  '/api/v1/events/1#part',
  '\\api\\v1\\events',
  'api/v1/events/1',
  '?after=1',
  '',
  '/api/v1/summary\t',
]
const VERSIONS = [
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'HTTP/11',
  'http/1.1',
  'HTTP/1.1 ',
  '',
  'XTTP/1.1',
] as const
const METHODS = [
  'get',
  'G',
  'GETGET',
  'GET\0',
  'PUT',
  'TRACE',
  'PURGE',
  'CONNECT',
  'PRI',
  'QUERY',
  'G ET',
  '',
] as const
const BYTES = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\t',
  ' ',
  ':',
  ',',
  ';',
  '/',
  '%',
  '\u000b',
  '\u007f',
  '\u0080',
  '\u00ff',
] as const

type Mutation = (text: string, random: Random) => string

/** Place of a random line end. */
function lineEnd(text: string, random: Random): number {
  const ends = [...text.matchAll(/\r\n/g)].map(({ index }) => index)
  return ends[random.below(ends.length)] ?? text.length
}

const replaced = (text: string, at: number, count: number, by: string): string =>
  text.slice(0, at) + by + text.slice(at + count)

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'a bit': (text, random) => {
    const at = random.below(text.length)
    return replaced(text, at, 1, String.fromCharCode((text.charCodeAt(at) ^ (1 << random.below(8))) & 255))
  },
  'a byte': (text, random) => replaced(text, random.below(text.length), random.below(2), random.pick(BYTES)),
  'bytes left out': (text, random) => replaced(text, random.below(text.length), random.between(1, 12), ''),
  'bytes twice': (text, random) => {
    const at = random.below(text.length)
    return replaced(text, at, 0, text.slice(at, at + random.between(1, 40)))
  },
  'a bare line feed': (text, random) => replaced(text, lineEnd(text, random), 2, '\n'),
  'a bare carriage return': (text, random) => replaced(text, lineEnd(text, random), 2, '\r'),
  'a line twice': (text, random) => {
    const at = lineEnd(text, random)
    const line = text.slice(at, text.indexOf('\r\n', at + 2))
    return replaced(text, at, 0, line)
  },
  'lines in another order': (text, random) => {
    const end = text.indexOf('\r\n\r\n')
    const [first = '', ...lines] = text.slice(0, Math.max(0, end)).split('\r\n')
    const at = random.below(Math.max(1, lines.length))
    return [first, ...lines.slice(at), ...lines.slice(0, at)].join('\r\n') + text.slice(Math.max(0, end))
  },
  'a tricky header': (text, random) => replaced(text, lineEnd(text, random), 0, `\r\n${random.pick(TRICKS)}`),
  'a tricky header at the end': (text, random) => {
    const end = text.indexOf('\r\n\r\n')
    return end < 0 ? text : replaced(text, end, 0, `\r\n${random.pick(TRICKS)}`)
  },
  'another target': (text, random) => text.replace(/ \S+ /, () => ` ${random.pick(TARGETS)} `),
  'another version': (text, random) => text.replace(/ HTTP\/1\.[01]/, () => ` ${random.pick(VERSIONS)}`),
  'another method': (text, random) => text.replace(/^[A-Z]+/, () => random.pick(METHODS)),
  'a huge target': (text, random) =>
    text.replace(
      / (\/\S*) /,
      (_, target: string) => ` ${target}${'x'.repeat(random.between(3_000, 9_000))} `,
    ),
  'a huge header': (text, random) =>
    replaced(text, lineEnd(text, random), 0, `\r\nX-Huge: ${'x'.repeat(random.between(3_000, 70_000))}`),
  'many headers': (text, random) => {
    const lines = Array.from({ length: random.between(60, 150) }, (_, index) => `\r\nX-${index}: ${index}`)
    return replaced(text, lineEnd(text, random), 0, lines.join(''))
  },
  'a body behind it': (text, random) =>
    text + random.pick(['abcde', '0\r\n\r\n', '5\r\nabcde\r\n0\r\n\r\n', 'GET / ', '\r\n', '\r\n\r\n\r\n']),
  'an early end': (text, random) => text.slice(0, random.below(text.length)),
  'a splice': (text, random) => {
    const other = random.pick(REQUESTS)
    return text.slice(0, random.below(text.length)) + other.slice(random.below(other.length))
  },
}
const NAMES = Object.keys(MUTATIONS)

/** Opens an endless series of connections' bytes: some requests in a row, of which most have one to three mutations. */
export function openRawCases(random: Random): () => RawCase {
  return () => {
    const mutations: string[] = []
    const count = random.weighted([
      [1, 5],
      [2, 3],
      [3, 1],
      [12, 0.3],
    ])
    const parts = Array.from({ length: count }, () => {
      let text = random.pick(REQUESTS)
      const times = random.weighted([
        [0, 1],
        [1, 5],
        [2, 3],
        [3, 1],
      ])
      for (let time = 0; time < times && text !== ''; time++) {
        const name = NAMES[random.below(NAMES.length)] ?? ''
        mutations.push(name)
        text = MUTATIONS[name]?.(text, random) ?? text
      }
      return text
    })
    return { bytes: Buffer.from(parts.join(''), 'latin1'), mutations }
  }
}

/** Last request of each connection: both servers close after it. */
export const LAST_REQUEST: string = request('GET /api/v1/events/2 HTTP/1.1', ['Connection: close'])
