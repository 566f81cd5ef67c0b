import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { DaybookEvent, EventWire } from '../protocol/event.ts'
import { formatEvent, parseEventWire } from '../protocol/event.ts'
import { EVENT_TYPES } from '../protocol/rules.ts'
import { contestIdOf, seqOf } from '../protocol/seq.ts'
import { randomLogs } from '../../test/story/random-log.ts'
import { openDirectory, reading, write } from '../../test/story/store-run.ts'
import type { LogFilter, Walk, WalkResult } from './store/reader.ts'

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 8)
const PLAINLY = { noise: 0, keptNoise: 0, undo: 'drop', aheadDays: 0, reopens: false } as const

const filters: fc.Arbitrary<LogFilter> = fc.record({
  types: fc.option(fc.subarray([...EVENT_TYPES])),
  kinds: fc.option(fc.subarray(['entry', 'winner', 'usd', 'scheduled', 'nobody_says_this'])),
  contestIds: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 4 }).map(contestIdOf))),
  nonzero: fc.boolean(),
})

const walks = fc.record({
  filter: filters,
  tx: fc.constant(null),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  after: fc.nat(70),
  before: fc.nat(70),
  limit: fc.integer({ min: 1, max: 20 }),
  scanMax: fc.integer({ min: 1, max: 40 }),
})

function matches(event: DaybookEvent, { types, kinds, contestIds, nonzero }: LogFilter): boolean {
  return (
    (types === null || types.includes(event.type)) &&
    (kinds === null || kinds.includes(event.kind)) &&
    (contestIds === null || contestIds.some((id) => id === event.contestId)) &&
    (!nonzero || (event.kots !== null && event.kots !== 0n))
  )
}

/** The specification, applied to one event at a time. */
function naive(events: readonly DaybookEvent[], walk: Walk): Omit<WalkResult, 'bytes'> & { lines: string[] } {
  const inStretch = events.filter(({ seq }) => seq > walk.after && seq < walk.before)
  const stretch = walk.order === 'asc' ? inStretch : inStretch.toReversed()
  const found: DaybookEvent[] = []
  let scannedTo = walk.order === 'asc' ? walk.after : walk.before
  let examined = 0
  for (const event of stretch) {
    if (examined === walk.scanMax || found.length === walk.limit) break
    examined += 1
    scannedTo = event.seq
    if (matches(event, walk.filter)) found.push(event)
  }
  return { lines: found.map(formatEvent), count: found.length, scannedTo, hasMore: examined < stretch.length }
}

/** Parses a CSV row (RFC 4180) into the event's fields. */
function fromCsv(row: string): EventWire {
  const [seq, type = '', kind = '', at = '', atMs, contestId, kots = '', tx = ''] = row.split(',')
  return {
    seq: Number(seq),
    type,
    kind,
    at,
    atMs: Number(atMs),
    contestId: contestId === '' ? null : Number(contestId),
    kots: kots === '' ? null : kots,
    tx: tx === '' ? null : tx,
  }
}

suite('a walk over the log', () => {
  test('gives in every framing the matches that a scan of the whole log gives', () => {
    fc.assert(
      fc.property(randomLogs, fc.array(walks, { minLength: 20, maxLength: 40 }), (entries, asked) => {
        using directory = openDirectory()
        const pieces = [{ events: Math.max(1, entries.length), droppedBefore: 0 }]
        for (const _done of write(directory.path, entries, [{ ...PLAINLY, pieces }], 'durable'));
        const events = entries.map(({ event }) => event)
        reading(directory.path, (reader) =>
          reader.snapshot(({ walk }) => {
            for (const query of asked) {
              const before = seqOf(Math.min(query.before, entries.length + 1))
              const stretch = { ...query, after: seqOf(Math.min(query.after, entries.length)), before }
              const { lines, ...expected } = naive(events, stretch)
              const inFraming = (framing: 'json' | 'csv' | 'sse' | 'ndjson'): string => {
                const { bytes, ...rest } = walk(stretch, framing)
                assert.deepEqual(rest, expected)
                return Buffer.from(bytes).toString()
              }
              assert.equal(inFraming('json'), lines.join(','))
              assert.equal(inFraming('ndjson'), lines.map((line) => `${line}\n`).join(''))
              const frames = lines.map((line) => `id: ${parseEventWire(line).seq}\ndata: ${line}\n\n`)
              assert.equal(inFraming('sse'), frames.join(''))
              const rows = inFraming('csv').split('\r\n').slice(0, -1)
              assert.deepEqual(rows.map(fromCsv), lines.map(parseEventWire))
            }
          }),
        )
      }),
      { numRuns: RUNS },
    )
  })

  test('finds each match once and in order when it continues where it ended', () => {
    fc.assert(
      fc.property(randomLogs, walks, (entries, query) => {
        using directory = openDirectory()
        const pieces = [{ events: Math.max(1, entries.length), droppedBefore: 0 }]
        for (const _done of write(directory.path, entries, [{ ...PLAINLY, pieces }], 'durable'));
        const expected = entries.flatMap(({ event }) => (matches(event, query.filter) ? [event.seq] : []))
        reading(directory.path, (reader) =>
          reader.snapshot(({ walk }) => {
            const seen: number[] = []
            let [after, before] = [seqOf(0), seqOf(entries.length + 1)]
            for (let more = true; more;) {
              const page = walk({ ...query, after, before }, 'ndjson')
              const lines = Buffer.from(page.bytes).toString().split('\n').slice(0, -1)
              seen.push(...lines.map((line) => parseEventWire(line).seq))
              if (query.order === 'asc') after = page.scannedTo
              else before = page.scannedTo
              more = page.hasMore
            }
            assert.deepEqual(seen, query.order === 'asc' ? expected : expected.toReversed())
          }),
        )
      }),
      { numRuns: RUNS },
    )
  })
})
