import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Appender, openAppender } from '../src/log/append.ts'
import { openReader } from '../src/log/open-reader.ts'
import { createStore, finishBulk, openForBulk, openForWriting, storePath } from '../src/log/store/store.ts'
import { contests } from '../src/project/answers/contests.ts'
import { payouts } from '../src/project/answers/payouts.ts'
import { billionths } from '../src/protocol/amount.ts'
import type { Details } from '../src/protocol/details.ts'
import { HOUR_MS, MINUTE_MS, msOf } from '../src/protocol/moment.ts'
import { ROWS_MAX } from '../src/protocol/parameters.ts'
import type { EventType } from '../src/protocol/rules.ts'
import { contestIdOf } from '../src/protocol/seq.ts'
import { testSigner } from '../test/story/signing.ts'
import { measure } from './stage/measure.ts'
import { ms, table, thousands } from './stage/report.ts'

/** Measures lists of contests and prizes, and rare commits: the end of a segment, the end of a month, a hold. */

const RUNS = 40
const START = Date.UTC(2026, 0, 1)
const SEGMENT_SEQS = 4_096
const CONTESTS = 10_000
/** Prizes of the large contest and of the small one, each prize with its own terms. */
const LARGE = 50_000
const SMALL = 110
const PAGE_ROWS = 100
const HELD_LOTS = 33_334
const MONTH_EVENTS = 1_000_000
const KEEP_EVERY = 2_000

type Row = readonly [what: string, figure: string]
type TestEvent = Readonly<{
  type: EventType
  kind: string
  contest?: number
  kots?: bigint
  details?: Details
}>

const directory = mkdtempSync(join(tmpdir(), 'daybook-costs-'))
try {
  const rows = [...listCosts('lists'), ...holdCosts('hold'), ...archiveCosts('archive')]
  process.stdout.write(`## Lists, holds, segments and months\n\n${table(['what', 'cost'], rows)}\n`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

/** Builds a store in `folder` with the events of `tell`. */
function build(folder: string, tell: (say: (told: TestEvent, at?: number) => void) => void): string {
  const data = join(directory, folder)
  createStore(storePath(data), { origin: 'localhost/costs', chain: 'opaque', simulated: true })
  const db = openForBulk(storePath(data))
  const appender = openAppender(db, testSigner(db))
  appender.begin()
  tell((told, at = START) => {
    append(appender, told, at)
    if (appender.head().seq % KEEP_EVERY === 0) appender.keep()
  })
  appender.keep()
  appender.commit()
  finishBulk(db)
  db.close()
  return data
}

function append(appender: Appender, { type, kind, contest, kots, details }: TestEvent, at: number): void {
  const contestId = contest === undefined ? null : contestIdOf(contest)
  const amount = kots === undefined ? null : billionths(kots)
  const draft = {
    ref: null,
    atMs: null,
    type,
    kind,
    contestId,
    kots: amount,
    tx: null,
    details: details ?? null,
  }
  appender.append(draft, null, msOf(at))
}

function scheduled(contest: number): TestEvent {
  const details = { title: `Round ${contest}`, opensAt: msOf(START), closesAt: msOf(START + HOUR_MS) }
  return { type: 'contest', kind: 'scheduled', contest, details }
}

function prize(contest: number, minutes: number): TestEvent {
  const details = {
    unlocksAt: msOf(START + minutes * MINUTE_MS),
    reviewUntil: msOf(START + 2 * minutes * MINUTE_MS),
  }
  return { type: 'prize', kind: 'winner', contest, kots: 12_345_678_901n, details }
}

function listCosts(folder: string): readonly Row[] {
  const data = build(folder, (say) => {
    for (let contest = 1; contest <= CONTESTS; contest++) {
      say(scheduled(contest))
      say({ type: 'pool', kind: 'sponsor', contest, kots: 1_000_000_000_000_000n })
      for (const kind of ['entry', 'vote']) say({ type: 'play', kind, contest, kots: 250_000_000n })
      for (const kind of ['opened', 'closed']) say({ type: 'contest', kind, contest })
    }
    for (let lot = 1; lot <= LARGE; lot++) say(prize(1, lot))
    for (let lot = 1; lot <= SMALL; lot++) say(prize(2, lot))
  })
  const now = msOf(START + 25_000 * MINUTE_MS)
  const reader = openReader(data, null)
  const ask = (question: Parameters<typeof reader.snapshot<unknown>>[0]): string => {
    const { median, p99 } = measure(RUNS, () => () => JSON.stringify(reader.snapshot(question)))
    return `${ms(median)} ms, p99 ${ms(p99)}`
  }
  const page = { after: 7 * CONTESTS, limit: PAGE_ROWS }
  const rows: readonly Row[] = [
    [`${thousands(ROWS_MAX)} contests`, ask(({ books }) => contests(books, { limit: ROWS_MAX }))],
    [
      `${PAGE_ROWS} contests that pay`,
      ask(({ books }) => contests(books, { status: ['paying'], limit: PAGE_ROWS })),
    ],
    [`${SMALL} prizes of a contest`, ask(({ books }) => payouts(books, { contestId: 2 }, now))],
    [
      `${PAGE_ROWS} of ${thousands(LARGE)} prizes of a contest`,
      ask(({ books }) => payouts(books, { contestId: 1, ...page }, now)),
    ],
    [`${PAGE_ROWS} prizes of all contests`, ask(({ books }) => payouts(books, page, now))],
    [`${thousands(ROWS_MAX)} prizes of all contests`, ask(({ books }) => payouts(books, {}, now))],
  ]
  reader.close()
  return rows
}

function holdCosts(folder: string): readonly Row[] {
  const data = build(folder, (say) => {
    for (const contest of [1, 2]) {
      say(scheduled(contest))
      say({ type: 'pool', kind: 'sponsor', contest, kots: 1_000_000_000_000_000n })
      for (let lot = 1; lot <= HELD_LOTS; lot++) say(prize(contest, contest === 1 ? 1 : lot))
    }
  })
  const reviewUntil = msOf(START + 24 * HOUR_MS)
  const hold = (contest: number): Row => [
    `a hold on ${thousands(HELD_LOTS)} prizes ${contest === 1 ? 'on equal terms' : 'on terms of their own'}`,
    writing(data, (commit) =>
      commit([{ type: 'hold', kind: 'winner', contest, details: { reviewUntil } }], START),
    ),
  ]
  return [hold(1), hold(2)]
}

function archiveCosts(folder: string): readonly Row[] {
  const trade = { type: 'trade', kind: 'buy', kots: 12_345_678_901n } as const
  const toSegment = SEGMENT_SEQS - (MONTH_EVENTS % SEGMENT_SEQS)
  const data = build(folder, (say) => {
    for (let seq = 1; seq < MONTH_EVENTS + toSegment; seq++) say(trade, START + seq)
  })
  return [
    [
      'the commit that ends a segment after a start',
      writing(data, (commit) => commit([trade], START + 28 * 24 * HOUR_MS)),
    ],
    [
      'the commit that ends a month after a start',
      writing(data, (commit) => commit([trade], START + 32 * 24 * HOUR_MS)),
    ],
  ]
}

/** Time and bytes of one commit right after a start. */
function writing(
  data: string,
  publish: (commit: (told: readonly TestEvent[], at: number) => void) => void,
): string {
  const db: DatabaseSync = openForWriting(storePath(data))
  db.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF')
  const appender = openAppender(db, testSigner(db))
  const began = performance.now()
  publish((told, at) => {
    appender.begin()
    for (const one of told) append(appender, one, at)
    appender.keep()
    appender.commit()
  })
  const took = performance.now() - began
  const { size } = statSync(`${storePath(data)}-wal`)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return `${ms(took)} ms, ${thousands(Math.round(size / 1024))} KiB`
}
