import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { startService } from '../../src/command/service/service.ts'
import type { World } from '../../src/command/terminal/world.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import type { NewLog } from '../../src/log/store/store.ts'
import type { Ms } from '../../src/protocol/moment.ts'
import type { SharedClock } from '../../src/publish/door/shared-clock.ts'
import { openSharedClock } from '../../src/publish/door/shared-clock.ts'
import { fetchDescribed } from './described.ts'

const TOKEN = 'a-token-of-tests-that-is-long-enough-0123456789'
const STREAM_BYTES_MAX = 10_000_000

/** A service in this process whose clock stands still until a test moves it. */
export type StillNode = AsyncDisposable &
  Readonly<{
    /** The body of a 200. A stream's is all that it says until it is live; `#ndjson` behind the path asks for lines. */
    bytesOf(path: string): Promise<Buffer>
    /** Publishes the drafts in one request, at a moment at which the clock then stands. */
    publish(drafts: readonly object[], at: Ms): Promise<void>
  }>

/** What commands and the service see of a machine whose clock is given. */
export function stillWorld(now: () => Ms): World {
  const silent = new PassThrough().resume()
  return {
    now,
    monotonicMs: () => performance.now(),
    random: () => 0.5,
    stdout: silent,
    stderr: silent,
    interactive: false,
    sharesPorts: true,
    hasFileModes: true,
    stop: new AbortController().signal,
  }
}

/** Serves a data directory on free ports of the loopback. */
export async function startStill(
  data: string,
  newLog: NewLog,
  keys: readonly SigningKey[],
  now: Ms,
): Promise<StillNode> {
  const clock: SharedClock = openSharedClock()
  clock.set(now)
  const service = await startService(
    {
      data,
      host: '127.0.0.1',
      port: 0,
      publishHost: '127.0.0.1',
      publishPort: 0,
      tokens: [TOKEN],
      newLog,
      signing: { keys, acceptNewKey: false, acceptLoss: false },
      verifyFirst: false,
      balances: 'refuse',
      trustProxy: '',
      workers: 1,
      rateLimit: null,
      limitStore: null,
      streamsMax: 10,
      drainMs: 0,
      writerClock: clock.buffer,
    },
    stillWorld(clock.now),
    pino({ enabled: false }),
  )
  const base = `http://127.0.0.1:${service.port}`
  return {
    bytesOf: async (path) => (path.includes('/stream') ? history(`${base}${path}`) : whole(`${base}${path}`)),
    async publish(drafts, at) {
      clock.set(at)
      const response = await fetch(`http://127.0.0.1:${service.publishPort}/publish`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(drafts),
      })
      const said = await response.text()
      if (response.status !== 200) throw new Error(`publish: ${response.status} ${said}`)
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
  let said = ''
  for await (const chunk of response.body) {
    said += Buffer.from(chunk).toString()
    const live = said.indexOf('"live":true')
    const end = live < 0 ? -1 : said.indexOf(form === 'ndjson' ? '\n' : '\n\n', live)
    // Leaving the loop closes the stream.
    if (end >= 0) return Buffer.from(said.slice(0, end + (form === 'ndjson' ? 1 : 2)))
    if (said.length > STREAM_BYTES_MAX) break
  }
  throw new Error('the stream ended before it was live')
}
