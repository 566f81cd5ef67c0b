import assert from 'node:assert/strict'

/** A whole message of a stream. Texts are latin1: each character is a byte. */
export type Heard = Readonly<{
  is: 'event' | 'details' | 'position' | 'retry'
  /** Seq of an event, of details, or of a position; the milliseconds of a retry. */
  seq: number
  /** Exact data. */
  line: string
}>

/** Bytes of an answer, as far as they came. */
type HeardAnswer = Readonly<{
  /** 0 without a whole head. */
  status: number
  messages: readonly Heard[]
  /** Bytes after the last whole message. */
  torn: number
}>

/** Reads an answer that may end at any byte. Fails when a whole part of it is malformed. */
export function heardOf(bytes: Buffer, ndjson: boolean): HeardAnswer {
  const text = bytes.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return { status: 0, messages: [], torn: text.length }
  const head = text.slice(0, end)
  const status = Number(head.slice(9, 12))
  if (status !== 200) return { status, messages: [], torn: 0 }
  assert.match(head, ndjson ? /\r\ncontent-type: application\/x-ndjson;/i : /: text\/event-stream;/i)
  const rest = text.slice(end + 4)
  const body = /\r\ntransfer-encoding: chunked/i.test(head) ? withoutChunks(rest) : rest
  const parts = body.split(ndjson ? '\n' : '\n\n')
  const torn = parts.pop() ?? ''
  return { status, messages: parts.map(ndjson ? lineOf : messageOf), torn: torn.length }
}

/** The data of all chunks, and of the last one as far as it came. */
function withoutChunks(text: string): string {
  const parts: string[] = []
  for (let at = 0; ;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return parts.join('')
    assert.match(text.slice(at, lineEnd), /^[0-9a-f]+$/, 'a chunk begins with its length')
    const end = lineEnd + 2 + Number.parseInt(text.slice(at, lineEnd), 16)
    parts.push(text.slice(lineEnd + 2, end))
    if (text.length < end + 2) return parts.join('')
    assert.equal(text.slice(end, end + 2), '\r\n', 'a chunk has the length that it says')
    at = end + 2
  }
}

const MESSAGE = /^(?:event: (position|details)\n)?(?:id: (\d+)\n)?data: ([^\n]*)$/

function messageOf(text: string): Heard {
  const retry = /^retry: (\d+)$/.exec(text)?.[1]
  if (retry !== undefined) return { is: 'retry', seq: Number(retry), line: '' }
  const [, is = 'event', id, line = ''] = MESSAGE.exec(text) ?? assert.fail(`a malformed message: ${text}`)
  assert.equal(id === undefined, is === 'details', 'all but details have an id')
  const seq = seqIn(line)
  assert.equal(id ?? String(seq), String(seq))
  return { is: is === 'position' || is === 'details' ? is : 'event', seq, line }
}

function lineOf(text: string): Heard {
  const position = /^\{"position":(.*)\}$/.exec(text)?.[1]
  if (position !== undefined) return { is: 'position', seq: seqIn(position), line: position }
  return { is: /^\{"seq":\d+,"details":/.test(text) ? 'details' : 'event', seq: seqIn(text), line: text }
}

function seqIn(line: string): number {
  return Number(/^\{"seq":(\d+),/.exec(line)?.[1] ?? assert.fail(`no seq in: ${line}`))
}
