import assert from 'node:assert/strict'
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { after, before, suite, test } from 'node:test'
import { createGunzip } from 'node:zlib'
import type {
  ArchiveIndex,
  ContestLedger,
  Contests,
  EventsPage,
  Flows,
  Patterns,
} from '../src/protocol/resources.ts'
import type { EventWire } from '../src/protocol/event.ts'
import { billionths, decimal } from './oracle/book.ts'
import type { Trial } from './oracle/comparison.ts'
import { diceOf, testAgainstOracle } from './oracle/comparison.ts'
import { download, get } from './oracle/download.ts'
import type { Service } from './service.ts'
import { startService } from './service.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'shared', 'data')
const DRAFTS = join(FOLDER, 'rewards.drafts.jsonl.gz')
const API = '/api/v1'
const ZERO = '0.000000000'
const HOUR = 3_600_000
/** Hours that one answer of `/flows` may hold. */
const BUCKETS_MAX = 1500
const SEED = Number(process.env['ORACLE_SEED'] ?? 130_138)

type Figures = Readonly<Partial<Record<'spentOnPlay' | 'paidInPrizes' | 'burned', string>>>

/** What an independent program computed from the same drafts. */
type Expected = Readonly<{
  events: number
  nonzero: number
  first: string
  last: string
  countByTypeKind: Readonly<Record<string, number>>
  sumByTypeKind: Readonly<Record<string, string>>
  eventsByMonth: Readonly<Record<string, number>>
  contests: Readonly<
    Record<
      string,
      Readonly<{
        status: string
        pool: string
        plays: number
        spentOnPlay: string
        owed: Readonly<Record<string, string>>
        redeemed: Readonly<Record<string, string>>
      }>
    >
  >
  flowsByDay: Readonly<Record<string, Figures>>
  flowsByWeek: Readonly<Record<string, Figures>>
  flowsByHour: Readonly<Record<string, Figures>>
  patterns: Readonly<Record<string, Readonly<Record<string, Figures>>>>
}>

const figures = (given: Figures | undefined): Required<Figures> => ({
  spentOnPlay: given?.spentOnPlay ?? ZERO,
  paidInPrizes: given?.paidInPrizes ?? ZERO,
  burned: given?.burned ?? ZERO,
})

const shown = (row: Required<Figures>): Required<Figures> => ({
  spentOnPlay: row.spentOnPlay,
  paidInPrizes: row.paidInPrizes,
  burned: row.burned,
})

const isSomething = (row: Required<Figures>): boolean =>
  row.spentOnPlay !== ZERO || row.paidInPrizes !== ZERO || row.burned !== ZERO

/** Every event that a filter keeps, over as many pages as it takes. */
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

suite('the real input', { skip: !existsSync(DRAFTS) && 'it does not stand beside the project' }, () => {
  const trial: Trial = { base: '', book: [], rounds: 8, dice: diceOf(SEED) }
  let service: Service | undefined
  let expected: Expected
  let folder: string
  let startMs = 0
  let endMs = 0
  before(async () => {
    expected = JSON.parse(readFileSync(join(FOLDER, 'rewards.expected.json'), 'utf8')) as Expected
    folder = await mkdtemp(join(tmpdir(), 'daybook-real-'))
    const drafts = join(folder, 'rewards.drafts.jsonl')
    await pipeline(createReadStream(DRAFTS), createGunzip(), createWriteStream(drafts))
    service = await startService({ drafts, chain: 'opaque' })
    await rm(folder, { recursive: true, force: true })
    trial.base = service.url
    trial.book = await download(service.url)
    startMs = Date.parse(expected.first)
    endMs = Date.parse(expected.last) + 1
  })
  after(async () => service?.[Symbol.asyncDispose]())

  test('has every event once, the first and the last where they were', async () => {
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
    assert.deepEqual(Object.fromEntries(counts), expected.eventsByMonth)
  })

  test('has every contest and every kind of its prizes', async () => {
    const { contests } = await get<Contests>(trial.base, `${API}/contests`)
    assert.equal(contests.length, Object.keys(expected.contests).length)
    for (const row of contests) {
      const wanted = expected.contests[row.id]
      const ledger = await get<ContestLedger>(trial.base, `${API}/contests/${row.id}/ledger`)
      const byKind = (column: 'owed' | 'redeemed'): Record<string, string> =>
        Object.fromEntries(ledger.prizes.map((line) => [line.kind, line[column]]))
      assert.deepEqual(
        {
          status: row.status,
          pool: row.pool,
          plays: row.plays,
          spentOnPlay: row.spentOnPlay,
          owed: byKind('owed'),
          redeemed: byKind('redeemed'),
        },
        wanted,
        `contest ${row.id}`,
      )
    }
  })

  for (const [bucket, name, widthMs] of [
    ['day', 'flowsByDay', 24 * HOUR],
    ['week', 'flowsByWeek', 168 * HOUR],
    ['hour', 'flowsByHour', HOUR],
  ] as const) {
    test(`has the flows of every ${bucket}, and none where there were none`, async () => {
      const found: Record<string, Required<Figures>> = {}
      for (let from = startMs; from < endMs; from += (BUCKETS_MAX - 1) * widthMs) {
        const to = Math.min(endMs, from + (BUCKETS_MAX - 1) * widthMs)
        const answer = await get<Flows>(trial.base, `${API}/flows?bucket=${bucket}&from=${from}&to=${to}`)
        for (const row of answer.buckets) if (isSomething(shown(row))) found[row.at] = shown(row)
      }
      const wanted = Object.entries(expected[name]).map(([at, given]) => [at, figures(given)])
      assert.deepEqual(found, Object.fromEntries(wanted))
    })
  }

  test('has the patterns of every hour and day in three time zones', async () => {
    for (const [tz, cells] of Object.entries(expected.patterns)) {
      const answer = await get<Patterns>(trial.base, `${API}/patterns?from=${startMs}&to=${endMs}&tz=${tz}`)
      assert.equal(answer.cells.length, 168)
      for (const cell of answer.cells) {
        const name = `${cell.day}-${String(cell.hour).padStart(2, '0')}`
        assert.deepEqual(shown(cell), figures(cells[name]), `tz ${tz}, cell ${name}`)
      }
    }
  })

  suite(`is told by the oracle as by the service (seed ${SEED})`, () => testAgainstOracle(trial))
})
