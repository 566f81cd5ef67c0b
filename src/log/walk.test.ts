import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { billionths } from '../protocol/amount.ts'
import { type Entry, type EventWire, parseEventWire } from '../protocol/event.ts'
import { msOf } from '../protocol/moment.ts'
import { EVENT_TYPES } from '../protocol/rules.ts'
import { contestIdOf, seqOf } from '../protocol/seq.ts'
import { isMatch, naiveWalk } from '../../test/story/naive-walk.ts'
import { randomLogs } from '../../test/story/random-log.ts'
import { openDirectory, reading, write } from '../../test/story/store-run.ts'
import { FIRST_CHUNK, mergeRuns, type Run } from './store/index-runs.ts'
import type { LogFilter, Snapshot } from './store/reader.ts'

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 8)
const PLAINLY = { noise: 0, keptNoise: 0, undo: 'drop', aheadDays: 0, reopens: false } as const

const TXS = ['pay:transaction-1', 'transaction-1', 'Transaction-1', 'nobody-paid'] as const
/** Contests of the generator, of the many kinds below, and one that never was. */
const CONTESTS = [1, 2, 3, 4, 5, 99].map(contestIdOf)

const filters: fc.Arbitrary<LogFilter> = fc.record({
  types: fc.option(fc.subarray([...EVENT_TYPES]), { nil: null, freq: 2 }),
  kinds: fc.option(
    fc.subarray(['entry', 'winner', 'usd', 'scheduled', 'top_up', 'kind_0', 'kind_7', 'nobody_says_this']),
    { nil: null, freq: 2 },
  ),
  contestIds: fc.option(fc.subarray(CONTESTS), { nil: null, freq: 2 }),
  nonzero: fc.boolean(),
})

const walks = fc.record({
  filter: filters,
  tx: fc.option(fc.constantFrom(...TXS), { nil: null, freq: 2 }),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  after: fc.oneof(fc.constant(0), fc.nat(300)),
  before: fc.oneof(fc.constant(1_000), fc.nat(300)),
  limit: fc.integer({ min: 1, max: 40 }),
  examineMax: fc.integer({ min: 1, max: 80 }),
})

/**
 * Random logs in which several events name the same transaction, with up to 250 plays of nine kinds in two further
 * contests, so that walks merge many runs and read several chunks of each.
 */
const logs = fc
  .tuple(
    randomLogs,
    fc.array(fc.tuple(fc.nat(8), fc.nat(1)), { maxLength: 250, size: 'max' }),
    fc.infiniteStream(fc.nat(9)),
  )
  .map(([entries, plays, named]): readonly Entry[] => {
    const atMs = entries.at(-1)?.event.atMs ?? msOf(0)
    const blank = { seq: seqOf(0), atMs, kots: null, tx: null }
    const plan = { opensAt: atMs, closesAt: atMs }
    const further = [
      ...[4, 5].map((id): Entry => ({
        event: { ...blank, type: 'contest', kind: 'scheduled', contestId: contestIdOf(id) },
        details: plan,
      })),
      ...plays.map(([kind, contest]): Entry => ({
        event: {
          ...blank,
          type: 'play',
          kind: `kind_${kind}`,
          contestId: contestIdOf(4 + contest),
          kots: billionths(BigInt(kind % 3)),
        },
        details: null,
      })),
    ]
    return [...entries, ...further].map(({ event, details }, index) => ({
      event: { ...event, seq: seqOf(index + 1), tx: TXS[named.next().value] ?? null },
      details,
    }))
  })

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

/** Writes a log and gives `ask` its walk. */
function walking(entries: readonly Entry[], ask: (walk: Snapshot['walk']) => void): void {
  using directory = openDirectory()
  const pieces = [{ events: Math.max(1, entries.length), droppedBefore: 0 }]
  for (const _done of write(directory.path, entries, [{ ...PLAINLY, pieces }], 'durable'));
  reading(directory.path, (reader) => reader.snapshot(({ walk }) => ask(walk)))
}

suite('a walk over the log', () => {
  test('gives in every framing the page that a filter of the whole log gives', () => {
    fc.assert(
      fc.property(logs, fc.array(walks, { minLength: 40, maxLength: 60 }), (entries, asked) => {
        const events = entries.map(({ event }) => event)
        walking(entries, (walk) => {
          for (const query of asked) {
            const before = seqOf(Math.min(query.before, entries.length + 1))
            const bounded = { ...query, after: seqOf(Math.min(query.after, entries.length)), before }
            const { lines, ...expected } = naiveWalk(events, bounded)
            const inFraming = (framing: 'json' | 'csv' | 'sse' | 'ndjson'): string => {
              const { bytes, ...rest } = walk(bounded, framing)
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
        })
      }),
      { numRuns: RUNS },
    )
  })

  test('finds each match once and in order when it continues where it ended', () => {
    fc.assert(
      fc.property(logs, fc.array(walks, { minLength: 10, maxLength: 10 }), (entries, asked) => {
        walking(entries, (walk) => {
          for (const query of asked) {
            const expected = entries.flatMap(({ event }) => (isMatch(event, query) ? [event.seq] : []))
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
          }
        })
      }),
      { numRuns: RUNS },
    )
  })

  test('reads at most four times what it returns after the first chunk of each run', () => {
    const plays = 3_000
    const kinds = 50
    const runs = Array.from({ length: kinds }, (_, kind) =>
      Array.from({ length: plays / kinds }, (_value, index) => 1 + kind + index * kinds),
    )
    let read = 0
    const counted = runs.map((seqs): Run => ({
      first: seqs.slice(0, FIRST_CHUNK),
      read(low, high, count) {
        const chunk = seqs.filter((seq) => seq > low && seq < high).slice(0, count)
        read += chunk.length
        return chunk
      },
    }))
    for (const limit of [1, 10, 100, 1_000, plays]) {
      read = 0
      const next = mergeRuns(counted, { order: 'asc', after: seqOf(0), before: seqOf(plays + 1) })
      assert.deepEqual(
        next(limit),
        Array.from({ length: limit }, (_, index) => index + 1),
      )
      assert.ok(read <= 4 * limit, `${read} seqs are read for ${limit}`)
    }
  })
})
