import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Random, randomOf } from '../sim/random.ts'
import { openReader } from '../src/log/open-reader.ts'
import type { LogFilter, LogReader } from '../src/log/store/reader.ts'
import { EXAMINED_MAX } from '../src/protocol/parameters.ts'
import { contestIdOf, nextSeq, seqOf } from '../src/protocol/seq.ts'
import { bigStore } from './stage/big-store.ts'
import { share } from './stage/measure.ts'
import { type QuestionSubjects, subjectsOf } from './stage/questions.ts'
import { type BenchSettings, benchSettings, sayBuilding, table, thousands } from './stage/report.ts'

/** Measures a filtered page of events beside an unfiltered page of the same length, on a small and a large log. */

const SMALL_LOG_EVENTS = 50_000
/** Uncounted first runs, so that the code is compiled and the pages of the file are in memory. */
const WARM_UP = 20
const ALL: LogFilter = { types: null, kinds: null, contestIds: null, nonzero: false }

type Way = Readonly<{
  name: string
  filter(random: Random, asked: QuestionSubjects): LogFilter
  order: 'asc' | 'desc'
  limit: number
}>

/** Contests of a drawing. */
const anyContests =
  (count: number, rest: Partial<LogFilter> = {}): Way['filter'] =>
  (random, { contests }) => ({
    ...ALL,
    ...rest,
    contestIds: Array.from(
      { length: count },
      () => contests[random.below(contests.length)] ?? contestIdOf(1),
    ),
  })

const WAYS: readonly Way[] = [
  { name: 'type=payout', order: 'asc', limit: 1_000, filter: () => ({ ...ALL, types: ['payout'] }) },
  { name: 'type=correction', order: 'asc', limit: 10_000, filter: () => ({ ...ALL, types: ['correction'] }) },
  {
    name: 'type=contest,prize,hold',
    order: 'desc',
    limit: 20,
    filter: () => ({ ...ALL, types: ['contest', 'prize', 'hold'] }),
  },
  {
    name: 'kind=winner, nonzero',
    order: 'asc',
    limit: 1_000,
    filter: () => ({ ...ALL, kinds: ['winner'], nonzero: true }),
  },
  { name: 'one contest', order: 'asc', limit: 10_000, filter: anyContests(1) },
  { name: 'one contest, newest 20', order: 'desc', limit: 20, filter: anyContests(1) },
  {
    name: 'one contest, type=payout',
    order: 'asc',
    limit: 1_000,
    filter: anyContests(1, { types: ['payout'] }),
  },
  { name: 'twenty contests', order: 'asc', limit: 1_000, filter: anyContests(20) },
  { name: 'kind=never_was', order: 'asc', limit: 1_000, filter: () => ({ ...ALL, kinds: ['never_was'] }) },
]

/** Medians in µs of the filtered page and of the unfiltered page as long, and the median length. */
type Cost = Readonly<{ filtered: number; plain: number; events: number }>

const settings = benchSettings(join(tmpdir(), 'daybook-bench'))
process.stdout.write(`${filteredPages(settings)}\n`)

function filteredPages({ store, events, runs }: BenchSettings): string {
  const readers = [SMALL_LOG_EVENTS, events].map((count) =>
    openReader(bigStore(store, count, sayBuilding(count)), null),
  )
  const micros = (value: number): string => value.toFixed(0)
  const rows = WAYS.map((way) => {
    const cells = readers.flatMap((reader) => {
      const { filtered, plain, events: length } = costOf(reader, way, runs)
      return [thousands(length), micros(filtered), micros(plain), `${(filtered / plain).toFixed(1)} ×`]
    })
    return [`${way.name}, limit=${thousands(way.limit)}`, ...cells]
  })
  for (const reader of readers) reader.close()
  const columns = ['events', 'µs', 'plain µs', 'ratio']
  return [
    `## Filtered pages, on logs of ${thousands(SMALL_LOG_EVENTS)} and ${thousands(events)} events`,
    '',
    'A page of events through an index, from anywhere in the log, and an unfiltered page of as many events from the same seq, by turns. Medians of the length and of the time from a fresh snapshot to the bytes. The first four columns are the small log.',
    '',
    table(['filter', ...columns, ...columns], rows),
    '',
  ].join('\n')
}

function costOf(reader: LogReader, way: Way, runs: number): Cost {
  const random = randomOf(way.name)
  const asked = reader.snapshot(subjectsOf)
  const times: { filtered: number[]; plain: number[] } = { filtered: [], plain: [] }
  const lengths: number[] = []
  for (let run = 0; run < runs + WARM_UP; run++) {
    const filter = way.filter(random, asked)
    const middle = random.below(Math.floor(asked.events / 2))
    const bounds = {
      tx: null,
      order: way.order,
      after: seqOf(way.order === 'asc' && filter.contestIds === null ? middle : 0),
      before: nextSeq(seqOf(way.order === 'asc' ? asked.events : asked.events - middle)),
      examineMax: EXAMINED_MAX,
    }
    const timed = (asking: LogFilter, limit: number): readonly [us: number, count: number] => {
      const began = performance.now()
      const { count } = reader.snapshot((snapshot) =>
        snapshot.walk({ ...bounds, filter: asking, limit }, 'json'),
      )
      return [(performance.now() - began) * 1_000, count]
    }
    const [filtered, count] = timed(filter, way.limit)
    const [plain] = timed(ALL, Math.max(1, count))
    if (run < WARM_UP) continue
    times.filtered.push(filtered)
    times.plain.push(plain)
    lengths.push(count)
  }
  return { filtered: share(times.filtered, 0.5), plain: share(times.plain, 0.5), events: share(lengths, 0.5) }
}
