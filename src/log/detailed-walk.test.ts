import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { Entry } from '../protocol/event.ts'
import { formatDetails } from '../protocol/details.ts'
import { seqOf } from '../protocol/seq.ts'
import { naiveWalk } from '../../test/story/naive-walk.ts'
import { randomLogs } from '../../test/story/random-log.ts'
import { openDirectory, reading, write } from '../../test/story/store-run.ts'
import type { Framing, LogFilter, Snapshot } from './store/reader.ts'

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 8)
const PLAINLY = { noise: 0, keptNoise: 0, undo: 'drop', aheadDays: 0, reopens: false } as const
const ALL: LogFilter = { types: null, kinds: null, contestIds: null, nonzero: false }
const UNBOUNDED = 1e9

const walks = fc.record({
  filter: fc.constantFrom<LogFilter>(
    ALL,
    { ...ALL, types: ['contest', 'prize', 'price'] },
    { ...ALL, nonzero: true },
  ),
  tx: fc.constant(null),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  after: fc.nat(60),
  before: fc.oneof(fc.constant(1_000), fc.nat(60)),
  limit: fc.integer({ min: 1, max: 40 }),
  examineMax: fc.constant(20_000),
})

function walking(entries: readonly Entry[], ask: (snapshot: Snapshot) => void): void {
  using directory = openDirectory()
  const pieces = [{ events: Math.max(1, entries.length), droppedBefore: 0 }]
  for (const _done of write(directory.path, entries, [{ ...PLAINLY, pieces }], 'durable'));
  reading(directory.path, (reader) => reader.snapshot(ask))
}

type Pair = Readonly<{ seq: number; line: string; details: string | null }>

/** Naive text of some events with their details, in each framing. */
const TEXTS: Readonly<Record<Framing, (pairs: readonly Pair[]) => string>> = {
  json: (pairs) => {
    const members = pairs.flatMap(({ seq, details }) => (details === null ? [] : [`"${seq}":${details}`]))
    return `${pairs.map(({ line }) => line).join(',')}|${members.join(',')}`
  },
  ndjson: (pairs) =>
    pairs
      .map(({ seq, line, details }) =>
        details === null ? `${line}\n` : `{"seq":${seq},"details":${details}}\n${line}\n`,
      )
      .join(''),
  sse: (pairs) =>
    pairs
      .map(({ seq, line, details }) => {
        const before = details === null ? '' : `event: details\ndata: {"seq":${seq},"details":${details}}\n\n`
        return `${before}id: ${seq}\ndata: ${line}\n\n`
      })
      .join(''),
  csv: (pairs) =>
    pairs
      .map(({ line, details }) => {
        const { seq, type, kind, at, atMs, contestId, kots, tx } = JSON.parse(line) as Record<string, unknown>
        const cells = [seq, type, kind, at, atMs, contestId ?? '', kots ?? '', tx ?? '']
        return `${cells.join(',')},${details === null ? '' : `"${details.replaceAll('"', '""')}"`}\r\n`
      })
      .join(''),
}

suite('a walk with details', () => {
  test('gives the page of a plain walk with the details of its events, in every framing', () => {
    fc.assert(
      fc.property(randomLogs, fc.array(walks, { minLength: 20, maxLength: 30 }), (entries, asked) => {
        const events = entries.map(({ event }) => event)
        walking(entries, (snapshot) => {
          for (const query of asked) {
            const before = seqOf(Math.min(query.before, entries.length + 1))
            const bounded = { ...query, after: seqOf(Math.min(query.after, entries.length)), before }
            const { lines, ...expected } = naiveWalk(events, bounded)
            const pairs = lines.map((line): Pair => {
              const seq = Number(/\d+/.exec(line)?.[0])
              const own = entries[seq - 1]?.details ?? null
              return { seq, line, details: own === null ? null : formatDetails(own) }
            })
            for (const framing of ['json', 'ndjson', 'sse', 'csv'] as const) {
              const { bytes, details, ...rest } = snapshot.detailedWalk(bounded, framing, UNBOUNDED)
              assert.deepEqual(rest, expected)
              const text =
                Buffer.from(bytes).toString() +
                (framing === 'json' ? `|${Buffer.from(details).toString()}` : '')
              assert.equal(text, TEXTS[framing](pairs))
            }
          }
        })
      }),
      { numRuns: RUNS },
    )
  })

  test('ends before the event that would exceed its bytes, has one at least, and continues where it ended', () => {
    fc.assert(
      fc.property(
        randomLogs,
        fc.constantFrom('asc' as const, 'desc' as const),
        fc.integer({ min: 1, max: 2_000 }),
        fc.constantFrom<Framing>('json', 'ndjson', 'sse', 'csv'),
        (entries, order, bytesMax, framing) => {
          walking(entries, (snapshot) => {
            const rest = { filter: ALL, tx: null, order, limit: 50, examineMax: 20_000 }
            let [after, before] = [seqOf(0), seqOf(entries.length + 1)]
            let events = 0
            for (let more = entries.length > 0; more;) {
              const { bytes, details, count, scannedTo, hasMore } = snapshot.detailedWalk(
                { ...rest, after, before },
                framing,
                bytesMax,
              )
              assert.ok(count >= 1)
              assert.ok(count === 1 || bytes.byteLength + details.byteLength <= bytesMax)
              events += count
              if (order === 'asc') after = scannedTo
              else before = scannedTo
              more = hasMore
            }
            assert.equal(events, entries.length)
          })
        },
      ),
      { numRuns: RUNS * 3 },
    )
  })
})
