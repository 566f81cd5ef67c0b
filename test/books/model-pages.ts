import assert from 'node:assert/strict'
import type { EventWire } from '../../src/protocol/event.ts'

/** The events of a page. Asserts that its bytes are those of the lines. */
export function fromJson(body: string): EventWire[] {
  const { events, page: told } = JSON.parse(body) as { events: EventWire[]; page: { count: number } }
  const lines = events.map((event) => JSON.stringify(event)).join(',')
  assert.equal(body, `{"events":[${lines}],"page":${JSON.stringify(told)}}`)
  assert.equal(told.count, events.length)
  return events
}

/** The events of a page of CSV. */
export function fromCsv(body: string): EventWire[] {
  const [header, ...rows] = body.split('\r\n')
  assert.equal(header, 'seq,type,kind,at,atMs,contestId,kots,tx')
  assert.equal(rows.pop(), '')
  const orNull = (cell = ''): string | null => (cell === '' ? null : cell)
  return rows.map((row) => {
    const [seq, type = '', kind = '', at = '', atMs, contestId, kots, tx] = row.split(',')
    const contest = orNull(contestId)
    return {
      seq: Number(seq),
      type,
      kind,
      at,
      atMs: Number(atMs),
      contestId: contest === null ? null : Number(contest),
      kots: orNull(kots),
      tx: orNull(tx),
    }
  })
}
