import { randomOf } from '../sim/random.ts'
import { openReader } from '../src/log/open-reader.ts'
import type { LogFilter, LogReader } from '../src/log/store/reader.ts'
import { EXAMINED_MAX } from '../src/protocol/parameters.ts'
import { nextSeq, seqOf } from '../src/protocol/seq.ts'
import { bigStore } from './stage/big-store.ts'
import { benchSettings, inTurns, median, type Measured, report } from './stage/report.ts'

/** Measures a page of 1,000 payouts beside an unfiltered page as long, and beside the same page of a small log. */

const SMALL_EVENTS = 50_000
const PAGE_EVENTS = 1_000
/** Pages in a turn. The median counts. */
const PAGES = 20
const ALL: LogFilter = { types: null, kinds: null, contestIds: null, nonzero: false }
const PAYOUTS: LogFilter = { ...ALL, types: ['payout'] }

const { store, events, rounds } = benchSettings()
const random = randomOf('filtered')
const [large, small] = [events, SMALL_EVENTS].map((count) => openReader(bigStore(store, count), null))
if (large === undefined || small === undefined) throw new Error('both logs are open')
const ways: readonly (readonly [reader: LogReader, filter: LogFilter])[] = [
  [large, PAYOUTS],
  [large, ALL],
  [small, PAYOUTS],
]
const [ours = [], plain = [], shorter = []] = await inTurns(rounds, ways, ([reader, filter]) =>
  median(Array.from({ length: PAGES }, () => pageMicros(reader, filter))),
)
const row = (peer: string, theirs: readonly number[]): Measured => {
  return { what: 'page of 1,000 payouts, uncached', unit: 'µs', peer, ours, theirs, better: 'less' }
}
report([row('unfiltered page', plain), row('a log of 50,000 events', shorter)])
large.close()
small.close()

/** Microseconds from a fresh snapshot to the bytes of a page from anywhere in the first half of the log. */
function pageMicros(reader: LogReader, filter: LogFilter): number {
  const began = performance.now()
  const { count } = reader.snapshot((snapshot) => {
    const after = seqOf(random.below(Math.floor(snapshot.head.seq / 2)))
    const bounds = { tx: null, order: 'asc', after, before: nextSeq(snapshot.head.seq) } as const
    return snapshot.walk({ ...bounds, filter, limit: PAGE_EVENTS, examineMax: EXAMINED_MAX }, 'json')
  })
  if (count !== PAGE_EVENTS) throw new Error(`a page has ${count} events`)
  return (performance.now() - began) * 1_000
}
