import assert from 'node:assert/strict'

/** One answer of several on a connection. */
export type RawAnswer = Readonly<{ status: number; headers: ReadonlyMap<string, string>; closes: boolean }>

/**
 * Reads the answers on a connection one after another, strictly: each has a length, chunks, no body, or the rest of the
 * connection. `methods` are those of the requests, in order. Throws on any byte that belongs to no answer.
 */
export function readAnswers(bytes: Buffer, methods: readonly string[]): readonly RawAnswer[] {
  const text = bytes.toString('latin1')
  const answers: RawAnswer[] = []
  let at = 0
  while (at < text.length) {
    const end = text.indexOf('\r\n\r\n', at)
    assert.ok(end >= 0, `answer ${answers.length + 1} has an end of its headers`)
    const { status, headers, closes } = headOf(text.slice(at, end))
    at = end + 4
    if (status === 100) continue
    const method = methods[answers.length]
    const isBare = method === 'HEAD' || status === 204 || status === 304
    if (!isBare) at = bodyEnd(text, at, headers)
    answers.push({ status, headers, closes })
  }
  assert.equal(at, text.length, 'the last answer is whole')
  return answers
}

/** The answers on a connection to another server, without their bodies: its refusals belong to no known method. */
export function answersOf(bytes: Buffer): readonly RawAnswer[] {
  const heads = bytes.toString('latin1').match(/HTTP\/1\.[01] [2-5]\d\d [^]*?(?=\r\n\r\n)/g) ?? []
  return heads.map((head) => headOf(head))
}

function headOf(head: string): RawAnswer {
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1] ?? Number.NaN)
  assert.ok(status >= 100, 'an answer begins with a status')
  const headers = new Map(lines.map((line) => pairOf(line)))
  return { status, headers, closes: headers.get('connection')?.toLowerCase() === 'close' }
}

function pairOf(line: string): readonly [string, string] {
  assert.match(line, /^[A-Za-z][\w-]*: ?[^\0\r\n]*$/, 'a header is a line with a name')
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

function bodyEnd(text: string, from: number, headers: ReadonlyMap<string, string>): number {
  const length = headers.get('content-length')
  if (length !== undefined) return from + Number(length)
  if (headers.get('transfer-encoding') !== 'chunked') return text.length
  let at = from
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at)
    const bytes = Number.parseInt(text.slice(at, lineEnd), 16)
    assert.ok(lineEnd >= 0 && Number.isSafeInteger(bytes), 'a chunk begins with its length')
    at = lineEnd + 2 + bytes + 2
    assert.ok(at <= text.length, 'a chunk is whole')
    if (bytes === 0) return at
  }
}
