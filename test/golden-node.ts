import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { startService } from '../src/command/service.ts'
import type { World } from '../src/command/world.ts'
import { HIGH_WATER_FILE } from '../src/log/high-water.ts'
import { openForWriting, storePath } from '../src/log/store.ts'
import type { Ms } from '../src/protocol/moment.ts'
import { importFiles } from '../src/publish/import.ts'
import { fetchDescribed } from './described.ts'
import { TEST_KEY } from './signing.ts'

/** A service over a fixed log at a fixed moment. */
export type GoldenNode = AsyncDisposable & Readonly<{ bytesOf(path: string): Promise<Buffer> }>

const ORIGIN = 'daybook.example/golden'
/** Of a log the id is random; the golden one's is not, so that nothing that shows it differs. */
const LOG_ID = '0123456789abcdef0123456789abcdef'
const STREAM_BYTES_MAX = 1_000_000

/** Imports the drafts, JSON lines, and serves them while the clock stands at `now`. */
export async function openGoldenNode(drafts: string, now: Ms): Promise<GoldenNode> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-golden-'))
  const data = join(folder, 'data')
  const file = join(folder, 'drafts.jsonl')
  writeFileSync(file, drafts)
  const newLog = { origin: ORIGIN, chain: 'solana', simulated: false } as const
  const silent = new PassThrough().resume()
  const world: World = {
    now: () => now,
    monotonicMs: () => performance.now(),
    random: () => 0.5,
    stdout: silent,
    stderr: silent,
    interactive: false,
    sharesPorts: true,
    hasFileModes: true,
    stop: new AbortController().signal,
  }
  const outcome = await importFiles({
    files: [file],
    dataDirectory: data,
    newLog,
    keys: [TEST_KEY],
    balances: 'refuse',
    now,
    monotonicMs: world.monotonicMs,
    onProgress: () => undefined,
    signal: world.stop,
  })
  if (!outcome.ok) throw new Error(`line ${outcome.line}, ${outcome.field}: ${outcome.reason}`)
  const db = openForWriting(storePath(data))
  db.prepare(`UPDATE meta SET value = ? WHERE key = 'id'`).run(LOG_ID)
  db.close()
  // The mark knows the log by the id that it was made with.
  rmSync(join(data, HIGH_WATER_FILE))
  const service = await startService(
    {
      data,
      host: '127.0.0.1',
      port: 0,
      publishHost: '127.0.0.1',
      publishPort: 0,
      tokens: ['a-token-of-tests-that-is-long-enough-0123456789'],
      newLog,
      signing: { keys: [TEST_KEY], acceptNewKey: false, acceptLoss: false },
      verifyFirst: false,
      balances: 'refuse',
      trustProxy: '',
      workers: 1,
      rateLimit: null,
      limitStore: null,
      streamsMax: 10,
      drainMs: 0,
    },
    world,
    pino({ enabled: false }),
  )
  const base = `http://127.0.0.1:${service.port}`
  return {
    bytesOf: async (path) => (path.includes('/stream') ? history(`${base}${path}`) : whole(`${base}${path}`)),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
}

async function whole(url: string): Promise<Buffer> {
  const response = await fetchDescribed(url, { headers: { 'accept-encoding': 'identity' } })
  const body = Buffer.from(await response.arrayBuffer())
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${body.toString()}`)
  return body
}

/** What a stream says until it is live; `#ndjson` behind the address asks for JSON lines. */
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
