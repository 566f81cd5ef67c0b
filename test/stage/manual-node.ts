import { PassThrough } from 'node:stream'
import { type LogLines, openMainLines } from '../../src/command/log-lines/log-lines.ts'
import { type Service, type ServiceSettings, startService } from '../../src/command/service/service.ts'
import type { CommandContext } from '../../src/command/terminal/command-context.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import type { NewLog } from '../../src/log/store/store.ts'
import type { Ms } from '../../src/protocol/moment.ts'
import { openSharedClock, type SharedClock } from '../../src/publish/writer/shared-clock.ts'
import { fetchDescribed } from './described.ts'

/** Publish token of a service in this process. */
export const LOCAL_TOKEN = 'a-token-of-tests-that-is-long-enough-0123456789'
const STREAM_BYTES_MAX = 10_000_000

/** A service in this process with a clock that only `publish` moves. */
export type ManualNode = AsyncDisposable &
  Readonly<{
    /** Body of a 200. A stream is read until it is live; `#ndjson` after the path asks for JSON lines. */
    bytesOf(path: string): Promise<Buffer>
    /** Sets the clock and publishes the drafts in one request. */
    publish(drafts: readonly object[], at: Ms): Promise<void>
  }>

/** The surroundings of commands and the service, with a given clock. */
export function manualContext(now: () => Ms): CommandContext {
  const silent = new PassThrough().resume()
  return {
    now,
    monotonicMs: () => performance.now(),
    program: 'daybook',
    random: () => 0.5,
    stdout: silent,
    stderr: silent,
    interactive: false,
    sharesPorts: true,
    hasFileModes: true,
    isRoot: false,
    stop: new AbortController().signal,
  }
}

type LocalNodeOptions = Readonly<{
  lines?: LogLines
  /** Settings in place of the usual ones. */
  settings?: Partial<ServiceSettings>
}>

/** Starts a service in this process, on free local ports, with a clock that the test sets. */
export function startLocalNode(
  data: string,
  newLog: NewLog,
  keys: readonly SigningKey[],
  clock: SharedClock,
  { lines, settings }: LocalNodeOptions = {},
): Promise<Service> {
  const context = manualContext(clock.now)
  return startService(
    {
      data,
      host: '127.0.0.1',
      port: 0,
      publishHost: '127.0.0.1',
      publishPort: 0,
      tokens: [LOCAL_TOKEN],
      newLog,
      signing: { keys, acceptNewKey: false, acceptLoss: false },
      acceptClock: false,
      verifyFirst: false,
      balances: 'refuse',
      carrier: null,
      judge: null,
      cosigners: null,
      trustProxy: '',
      workers: 1,
      rateLimit: null,
      streamsMax: 1_000,
      drainMs: 0,
      writerClock: clock.buffer,
      ...settings,
    },
    context,
    lines ?? openMainLines(context),
  )
}

/** Sends drafts to the publish API of a service that `startLocalNode` started. */
export function postDrafts(service: Service, drafts: readonly object[], asLines = false): Promise<Response> {
  return fetch(`http://127.0.0.1:${service.publishPort}/publish`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${LOCAL_TOKEN}`,
      'content-type': asLines ? 'application/x-ndjson' : 'application/json',
    },
    body: asLines ? drafts.map((draft) => JSON.stringify(draft)).join('\n') : JSON.stringify(drafts),
  })
}

/** Serves a data directory at a fixed moment. */
export async function startManualNode(
  data: string,
  newLog: NewLog,
  keys: readonly SigningKey[],
  now: Ms,
): Promise<ManualNode> {
  const clock = openSharedClock()
  clock.set(now)
  const service = await startLocalNode(data, newLog, keys, clock)
  const base = `http://127.0.0.1:${service.port}`
  return {
    bytesOf: async (path) => (path.includes('/stream') ? history(`${base}${path}`) : whole(`${base}${path}`)),
    async publish(drafts, at) {
      clock.set(at)
      const response = await postDrafts(service, drafts)
      const body = await response.text()
      if (response.status !== 200) throw new Error(`publish: ${response.status} ${body}`)
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

async function whole(url: string): Promise<Buffer> {
  const response = await fetchDescribed(url, { headers: { 'accept-encoding': 'identity' } })
  const body = Buffer.from(await response.arrayBuffer())
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${body.toString()}`)
  return body
}

async function history(address: string): Promise<Buffer> {
  const [url = '', form] = address.split('#')
  const accept = form === 'ndjson' ? 'application/x-ndjson' : 'text/event-stream'
  const response = await fetch(url, { headers: { accept } })
  if (response.body === null) throw new Error('a stream has a body')
  let text = ''
  for await (const chunk of response.body) {
    text += Buffer.from(chunk).toString()
    const live = text.indexOf('"live":true')
    const end = live < 0 ? -1 : text.indexOf(form === 'ndjson' ? '\n' : '\n\n', live)
    // Leaving the loop closes the stream.
    if (end >= 0) return Buffer.from(text.slice(0, end + (form === 'ndjson' ? 1 : 2)))
    if (text.length > STREAM_BYTES_MAX) break
  }
  throw new Error('the stream ended before it was live')
}
