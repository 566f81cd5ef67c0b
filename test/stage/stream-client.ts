import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { assertStreamPartDescribed } from './described.ts'

/** An SSE message, or a JSON line as `data`. */
export type Message = Readonly<{ id?: string; event?: string; data?: string; retry?: string }>

/** A stream client on a bare socket, which sends and shows exact bytes. */
export type StreamClient = Disposable &
  Readonly<{
    socket: Socket
    /** Status line and headers. */
    head(): string
    /** Body without chunk framing. */
    body(): string
    messages(): readonly Message[]
    /** Lines of the events, without positions. */
    events(): readonly string[]
    seqs(): readonly number[]
    positions(): readonly Readonly<{ seq: number; head: number; live: boolean; at: string; atMs: number }>[]
    /** Whether the last, empty chunk has arrived. */
    isWhole(): boolean
    isClosed(): boolean
    /** Waits for a condition; fails after `withinMs`. */
    until(holds: () => boolean, withinMs?: number): Promise<void>
    text(): string
  }>

type ClientSettings = Readonly<{
  /** Path of the stream; the API's by default. */
  of?: string
  /** Query, with its `?`. */
  path?: string
  method?: string
  version?: '1.0' | '1.1'
  headers?: readonly string[]
  /** Bytes sent directly after the request. */
  behind?: string
  /** Reads nothing until it is resumed. */
  paused?: boolean
}>

const BOUND_MS = 60_000

/** Waits for a condition, checked every millisecond; fails after `withinMs`. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  withinMs: number = BOUND_MS,
): Promise<void> {
  const limit = performance.now() + withinMs
  while (!(await holds())) {
    assert.ok(performance.now() < limit, `not within ${withinMs} ms: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

export async function openClient(port: number, settings: ClientSettings = {}): Promise<StreamClient> {
  const { of = '/api/v1/stream', path = '', method = 'GET' } = settings
  const { version = '1.1', headers = [], behind = '' } = settings
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const chunks: Buffer[] = []
  let received = ''
  let closed = false
  if (settings.paused === true) socket.pause()
  else socket.on('data', (bytes) => chunks.push(Buffer.from(bytes)))
  socket.on('error', () => undefined)
  socket.once('close', () => (closed = true))
  socket.once('end', () => socket.end())
  await once(socket, 'connect')
  const lines = [`${method} ${of}${path} HTTP/${version}`, 'Host: daybook.test', ...headers, '', '']
  socket.write(lines.join('\r\n') + behind)

  const text = (): string => {
    // All bytes of a stream are ASCII, so no chunk ends inside a character.
    if (chunks.length > 0) received += Buffer.concat(chunks.splice(0)).toString('latin1')
    return received
  }
  const head = (): string => text().split('\r\n\r\n', 1)[0] ?? ''
  const rest = (): string => text().slice(head().length + 4)
  const isChunked = (): boolean => /transfer-encoding: chunked/i.test(head())
  const body = (): string => (isChunked() ? unchunk(rest()).body : rest())
  const messages = (): readonly Message[] =>
    /x-ndjson/.test(head())
      ? body()
          .split('\n')
          .slice(0, -1)
          .map((data) => ({ data }))
      : parseMessages(body())
  const dataOf = (): readonly string[] =>
    messages().flatMap(({ data, event }) => (data === undefined || event !== undefined ? [] : [data]))
  const events = (): readonly string[] =>
    dataOf().filter((data) => data.startsWith('{"seq":') && !/^\{"seq":\d+,"details":/.test(data))
  return {
    socket,
    head,
    body,
    messages,
    events,
    seqs: () => events().map((line) => JSON.parse(line).seq),
    positions: () => messages().flatMap(positionOf),
    isWhole: () => unchunk(rest()).whole,
    isClosed: () => closed,
    until,
    text,
    [Symbol.dispose]() {
      socket.destroy()
      if (head().startsWith('HTTP/1.1 200'))
        for (const message of messages()) assertStreamPartDescribed(message)
    },
  }
}

function positionOf(message: Message): ReturnType<StreamClient['positions']> {
  if (message.data === undefined) return []
  if (message.event === 'position') {
    const position = JSON.parse(message.data)
    assert.equal(message.id, String(position.seq))
    return [position]
  }
  return message.data.startsWith('{"position":') ? [JSON.parse(message.data).position] : []
}

function parseMessages(body: string): readonly Message[] {
  return body
    .split('\n\n')
    .slice(0, -1)
    .map((block) => Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2))))
}

function unchunk(text: string): Readonly<{ body: string; whole: boolean }> {
  const parts: string[] = []
  let at = 0
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return { body: parts.join(''), whole: false }
    const bytes = Number.parseInt(text.slice(at, lineEnd), 16)
    assert.ok(Number.isSafeInteger(bytes), 'a chunk begins with its length')
    const end = lineEnd + 2 + bytes
    if (text.length < end + 2) return { body: parts.join(''), whole: false }
    assert.equal(text.slice(end, end + 2), '\r\n', 'a chunk has the length that it says')
    if (bytes === 0) return { body: parts.join(''), whole: true }
    parts.push(text.slice(lineEnd + 2, end))
    at = end + 2
  }
}
