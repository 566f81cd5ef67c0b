import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { ArchiveIndex } from '../../src/protocol/endpoints/file-endpoints.ts'
import { fetchDescribed } from '../stage/described.ts'
import type { PublicDetails, PublicEntry, PublicEvent } from './book.ts'

/** JSON answer at a path of the API. Any status except for 200 fails the test, with the body as message. */
export async function get<T>(base: string, path: string): Promise<T> {
  // Compression would take a tenth of the time of the comparisons.
  const answer = await fetchDescribed(new URL(path, base), { headers: { 'accept-encoding': 'identity' } })
  const body = await answer.text()
  assert.equal(answer.status, 200, `${path}: ${body.slice(0, 500)}`)
  return JSON.parse(body) as T
}

async function bytesOf(base: string, path: string): Promise<Buffer> {
  const answer = await fetchDescribed(new URL(path, base))
  assert.equal(answer.status, 200, path)
  return Buffer.from(await answer.arrayBuffer())
}

function linesOf(file: Buffer): readonly string[] {
  if (file.length === 0) return []
  const text = gunzipSync(file).toString('utf8')
  assert.ok(text === '' || text.endsWith('\n'), 'every line of a month ends')
  return text.split('\n').slice(0, -1)
}

/** Lines of a month file. */
export async function linesAt(base: string, path: string): Promise<readonly string[]> {
  return linesOf(await bytesOf(base, path))
}

/** The whole book from the month files alone, each checked against its digest and its count. */
export async function download(base: string): Promise<readonly PublicEntry[]> {
  const { months } = await get<ArchiveIndex>(base, '/api/v1/archive')
  const events: PublicEvent[] = []
  const details = new Map<number, PublicDetails>()
  for (const month of months.toSorted((a, b) => (a.month < b.month ? -1 : 1))) {
    const file = await bytesOf(base, month.url)
    if (month.sha256 !== null) {
      assert.equal(createHash('sha256').update(file).digest('hex'), month.sha256, `${month.month}: digest`)
    }
    const own = linesOf(file).map((line) => JSON.parse(line) as PublicEvent)
    assert.equal(own.length, month.events, `${month.month}: events`)
    assert.ok(
      own.every((event) => event.at.startsWith(month.month)),
      `${month.month}: an event of another month`,
    )
    events.push(...own)
    for (const line of await linesAt(base, month.detailsUrl)) {
      const said = JSON.parse(line) as { seq: number; details: PublicDetails }
      details.set(said.seq, said.details)
    }
  }
  events.forEach((event, index) => {
    assert.equal(event.seq, index + 1, 'no seq is skipped or repeated')
    assert.deepEqual(Object.keys(event), ['seq', 'type', 'kind', 'at', 'atMs', 'contestId', 'kots', 'tx'])
    assert.ok(event.atMs >= (events[index - 1]?.atMs ?? 0), `at of ${event.seq} goes back`)
  })
  return events.map((event) => ({ event, details: details.get(event.seq) ?? null }))
}
