import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import type { EventsPage } from '../../src/protocol/endpoints/event-endpoints.ts'
import type { LogKeys } from '../../src/protocol/endpoints/file-endpoints.ts'
import { openCheckpoint, type OpenedCheckpoint, type TrustedLog } from '../../src/tlog/checkpoint.ts'
import { formatEntry } from '../../src/tlog/entries.ts'
import { fetchDescribed } from './described.ts'
import type { Service } from './service.ts'
import { sha256, verifyEd25519 } from '../tlog/example.ts'
import { parseVkey } from '../../src/tlog/note.ts'

// A log's tree, from public answers only.

/** Fetches a path below `/api/v1`. */
type Get = (path: string, headers?: Readonly<Record<string, string>>, method?: string) => Promise<Response>

/** A `Get` of the service that runs at the time of the request. */
export const getOf =
  (service: () => Service): Get =>
  (path, headers = {}, method = 'GET') =>
    fetchDescribed(`${service().url}/api/v1${path}`, { method, headers })

/** Body of an answer with status 200. */
export async function bytesOf(get: Get, path: string): Promise<Buffer> {
  const response = await get(path)
  assert.equal(response.status, 200, path)
  return Buffer.from(await response.arrayBuffer())
}

/** The log with the keys that it lists itself, trusted at first use. */
export async function trustedBy(get: Get): Promise<TrustedLog> {
  const { origin, keys } = (await (await get('/log/keys')).json()) as LogKeys
  return { origin, keys: keys.map(({ vkey }) => parseVkey(sha256, vkey) ?? assert.fail()) }
}

/** The verified present checkpoint. */
export async function checkpointOf(get: Get, log: TrustedLog): Promise<OpenedCheckpoint> {
  const opened = await openCheckpoint(await bytesOf(get, '/log/checkpoint'), log, verifyEd25519)
  assert.ok(opened.ok)
  return opened.value
}

/** Code of a problem. */
export async function problemOf(response: Response): Promise<string> {
  return ((await response.json()) as { code: string }).code
}

/** Entries of all events, made from the lines of `/events` and the details files. */
export async function entriesOf(get: Get): Promise<readonly Uint8Array[]> {
  const lines: string[] = []
  for (let next: string | null = '/events?after=0&limit=10000'; next !== null;) {
    const { events, page } = JSON.parse((await bytesOf(get, next)).toString()) as EventsPage
    lines.push(...events.map((event) => JSON.stringify(event)))
    next = page.next?.replace('/api/v1', '') ?? null
  }
  const index = JSON.parse((await bytesOf(get, '/archive')).toString()) as {
    months: { detailsUrl: string }[]
  }
  const details = new Map<number, string>()
  for (const { detailsUrl } of index.months) {
    const file = gunzipSync(await bytesOf(get, detailsUrl.replace('/api/v1', ''))).toString()
    for (const line of file.split('\n').filter((each) => each !== '')) {
      details.set((JSON.parse(line) as { seq: number }).seq, line)
    }
  }
  return lines.map((line, at) => formatEntry(line, details.get(at + 1) ?? null))
}
