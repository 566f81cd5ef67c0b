import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { ArchiveIndex } from '../../src/protocol/endpoints/file-endpoints.ts'
import type { ContestLedger, Contests } from '../../src/protocol/endpoints/contest-endpoints.ts'
import type { EventsPage } from '../../src/protocol/endpoints/event-endpoints.ts'
import type { Flows, Patterns } from '../../src/protocol/endpoints/figure-endpoints.ts'
import type { EventWire } from '../../src/protocol/event.ts'
import type { Input, Expected, Figures } from '../oracle/input.ts'
import { billionths, decimal } from '../oracle/book.ts'
import type { Trial } from '../oracle/trial.ts'
import { testAgainstOracle } from '../oracle/comparison.ts'
import { download, get } from '../oracle/download.ts'
import { type Service, startService } from '../stage/service.ts'

const API = '/api/v1'
const ZERO = '0.000000000'
const HOUR = 3_600_000
/** Most buckets of an answer of `/flows`, less one for an end within a bucket. */
const BUCKETS_MAX = 1499

/** The service under test and its expected figures, which are set when the suite has begun. */
type ServedInput = { trial: Trial; expected?: Expected }

/** Registers the tests of a data set: a service that imported it has the expected figures and the oracle's answers. */
export function testInput(open: () => Promise<Input>, asked: Readonly<Pick<Trial, 'rounds' | 'dice'>>): void {
  const served: ServedInput = { trial: { base: '', book: [], ...asked } }
  let service: Service | undefined
  before(async () => {
    await using set = await open()
    service = await startService({ drafts: set.drafts, chain: set.expected.chain ?? 'opaque' })
    served.expected = set.expected
    served.trial.base = service.url
    served.trial.book = await download(service.url)
  })
  after(async () => service?.[Symbol.asyncDispose]())
  testEvents(served)
  testContests(served)
  testFlows(served)
  testMonths(served)
  testPatterns(served)
  suite('agrees between the oracle and the service', () => testAgainstOracle(served.trial))
}

function expectedOf({ expected }: ServedInput): Expected {
  assert.ok(expected !== undefined, 'the data set is open')
  return expected
}

/** All events that match a filter, over all pages. */
async function everyEvent(base: string, filter: string): Promise<readonly EventWire[]> {
  const events: EventWire[] = []
  let path: string | null = `${API}/events?limit=10000${filter}`
  while (path !== null) {
    const page: EventsPage = await get<EventsPage>(base, path)
    events.push(...page.events)
    path = page.page.next
  }
  return events
}

function testEvents(served: ServedInput): void {
  const { trial } = served
  test('has every event once, with the same first and last event', async () => {
    const expected = expectedOf(served)
    assert.equal(trial.book.length, expected.events)
    assert.equal(trial.book[0]?.event.at, expected.first)
    assert.equal(trial.book.at(-1)?.event.at, expected.last)
    const all = await everyEvent(trial.base, '')
    assert.deepEqual(
      all,
      trial.book.map((entry) => entry.event),
    )
    assert.equal((await everyEvent(trial.base, '&nonzero=1')).length, expected.nonzero)
  })

  test('has the count and the sum of every type and kind', async () => {
    const expected = expectedOf(served)
    let events = 0
    for (const [name, count] of Object.entries(expected.countByTypeKind)) {
      const [type, kind] = name.split('/')
      const found = await everyEvent(trial.base, `&type=${type}&kind=${kind}`)
      assert.equal(found.length, count, name)
      events += found.length
      let total = 0n
      for (const event of found) total += event.kots === null ? 0n : billionths(event.kots)
      assert.equal(decimal(total), expected.sumByTypeKind[name] ?? ZERO, name)
    }
    assert.equal(events, expected.events)
  })

  test('has the events of every month', async () => {
    const { months } = await get<ArchiveIndex>(trial.base, `${API}/archive`)
    const counts = months.filter((month) => month.events > 0).map((month) => [month.month, month.events])
    assert.deepEqual(Object.fromEntries(counts), expectedOf(served).eventsByMonth)
  })
}

function testContests(served: ServedInput): void {
  const { trial } = served
  test('has every contest and every kind of its prizes', async () => {
    const expected = expectedOf(served)
    const { contests } = await get<Contests>(trial.base, `${API}/contests`)
    assert.equal(contests.length, Object.keys(expected.contests).length)
    for (const row of contests) {
      const ledger = await get<ContestLedger>(trial.base, `${API}/contests/${row.id}/ledger`)
      const byKind = (column: 'owed' | 'redeemed'): Record<string, string> =>
        Object.fromEntries(ledger.prizes.map((line) => [line.kind, line[column]]))
      const found = {
        status: row.status,
        pool: row.pool,
        plays: row.plays,
        spentOnPlay: row.spentOnPlay,
        owed: byKind('owed'),
        redeemed: byKind('redeemed'),
      }
      assert.deepEqual(found, expected.contests[row.id], `contest ${row.id}`)
    }
  })
}

const figures = (given: Figures | undefined): Required<Figures> => ({
  spentOnPlay: given?.spentOnPlay ?? ZERO,
  paidInPrizes: given?.paidInPrizes ?? ZERO,
  burned: given?.burned ?? ZERO,
})

const isSomething = (row: Required<Figures>): boolean => Object.values(row).some((kots) => kots !== ZERO)

/** The time span of the data set, from the first moment to just after the last. */
const spanOf = ({ first, last }: Expected): readonly [number, number] => [
  Date.parse(first),
  Date.parse(last) + 1,
]

function testFlows(served: ServedInput): void {
  for (const [bucket, name, widthMs] of [
    ['day', 'flowsByDay', 24 * HOUR],
    ['week', 'flowsByWeek', 168 * HOUR],
    ['hour', 'flowsByHour', HOUR],
  ] as const) {
    test(`has the flows of every ${bucket}, and zero in empty ones`, async () => {
      const expected = expectedOf(served)
      const [start, end] = spanOf(expected)
      const found: Record<string, Required<Figures>> = {}
      for (let from = start; from < end; from += BUCKETS_MAX * widthMs) {
        const query = `bucket=${bucket}&from=${from}&to=${Math.min(end, from + BUCKETS_MAX * widthMs)}`
        const answer = await get<Flows>(served.trial.base, `${API}/flows?${query}`)
        for (const row of answer.buckets) if (isSomething(figures(row))) found[row.at] = figures(row)
      }
      const wanted = Object.entries(expected[name]).map(([at, given]) => [at, figures(given)])
      assert.deepEqual(found, Object.fromEntries(wanted))
    })
  }
}

/** Sums of the days of each month, by the month's first moment. */
function byMonth(days: Expected['flowsByDay']): Readonly<Record<string, Required<Figures>>> {
  const months = Map.groupBy(Object.entries(days), ([at]) => at.slice(0, 7))
  return Object.fromEntries(
    [...months].map(([month, rows]) => {
      const sumOf = (figure: keyof Figures): string =>
        decimal(rows.reduce((sum, [, given]) => sum + billionths(given[figure] ?? ZERO), 0n))
      const sums = {
        spentOnPlay: sumOf('spentOnPlay'),
        paidInPrizes: sumOf('paidInPrizes'),
        burned: sumOf('burned'),
      }
      return [`${month}-01T00:00:00.000Z`, sums]
    }),
  )
}

function testMonths(served: ServedInput): void {
  test('has the flows of every month, from the month of the first event to the present one', async () => {
    const expected = expectedOf(served)
    const months = Object.entries(byMonth(expected.flowsByDay)).filter(([, row]) => isSomething(row))
    const { buckets } = await get<Flows>(
      served.trial.base,
      `${API}/flows?bucket=month&from=${expected.first}`,
    )
    const found = buckets.map((row) => [row.at, figures(row)] as const).filter(([, row]) => isSomething(row))
    assert.deepEqual(Object.fromEntries(found), Object.fromEntries(months))
    assert.equal(buckets[0]?.at.slice(0, 7), expected.first.slice(0, 7))
  })
}

function testPatterns(served: ServedInput): void {
  test('has the patterns of every hour and day in every time zone asked', async () => {
    const expected = expectedOf(served)
    const [from, to] = spanOf(expected)
    for (const [tz, cells] of Object.entries(expected.patterns)) {
      const query = `from=${from}&to=${to}&tz=${tz}`
      const answer = await get<Patterns>(served.trial.base, `${API}/patterns?${query}`)
      assert.equal(answer.cells.length, 168)
      for (const cell of answer.cells) {
        const name = `${cell.day}-${String(cell.hour).padStart(2, '0')}`
        assert.deepEqual(figures(cell), figures(cells[name]), `tz ${tz}, cell ${name}`)
      }
    }
  })
}
