import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RecomputedEndpoint } from '../../src/protocol/endpoints/endpoints.ts'
import type { ContestLedger, Contests, Payouts } from '../../src/protocol/endpoints/contest-endpoints.ts'
import type { Waits } from '../../src/protocol/endpoints/figure-endpoints.ts'
import type { EventsPage } from '../../src/protocol/endpoints/event-endpoints.ts'
import { asOf, corrections } from './book.ts'
import { contest, contestIds, contestLedger, contests, schedule } from './contests.ts'
import { get } from './download.ts'
import { summary } from './figures.ts'
import { loyaltyRuns } from './loyalty.ts'
import { eventsPage, type PageQuestion } from './pages.ts'
import { payouts } from './payouts.ts'
import { waits } from './waits.ts'
import { testDefaultRanges, testPatterns, testSeries } from './range-comparison.ts'
import { someMoment, someRange, span, type Trial } from './trial.ts'

const API = '/api/v1'
const DAY = 86_400_000
const MINUTE = 60_000

/** Follows `next` to its end and returns all pages, a thousand at most. */
async function pagesOf<T extends { next: string | null }>(
  base: string,
  first: string,
): Promise<readonly [T, ...T[]]> {
  const pages: [T, ...T[]] = [await get<T>(base, first)]
  for (let next = pages[0].next; next !== null; next = pages.at(-1)?.next ?? null) {
    assert.ok(pages.length < 1000, `${first} has no end`)
    pages.push(await get<T>(base, next))
  }
  return pages
}

function testSummary(trial: Trial): void {
  test('summary, now and as of past moments', async () => {
    const { base, book } = trial
    assert.deepEqual(await get(base, `${API}/summary`), summary(book))
    const moments = Array.from({ length: trial.rounds }, () => someMoment(trial))
    for (const atMs of [0, span(trial)[0] - 1, ...span(trial), ...moments]) {
      assert.deepEqual(await get(base, `${API}/summary?at=${atMs}`), summary(book, atMs), `at=${atMs}`)
    }
  })
}

function testContests(trial: Trial): void {
  test('contests of every status, on one page and on many', async () => {
    const { base, book } = trial
    const answers = ['', 'upcoming', 'running', 'paying', 'paid', 'closed', 'running,closed']
    for (const asked of answers) {
      const query = asked === '' ? '' : `status=${asked}`
      const wanted = contests(book, asked === '' ? undefined : asked.split(','))
      assert.deepEqual(await get(base, `${API}/contests${query && '?'}${query}`), wanted, query)
      const pages = await pagesOf<Contests>(base, `${API}/contests?limit=2${query && '&'}${query}`)
      assert.deepEqual(
        pages.flatMap((page) => page.contests),
        wanted.contests,
        query,
      )
    }
    for (const id of contestIds(book)) {
      const wanted = { asOf: asOf(book), ...contest(book, id) }
      assert.deepEqual(await get(base, `${API}/contests/${id}`), wanted, `contest ${id}`)
    }
  })
}

function testOutcomes(trial: Trial): void {
  test('contests of every outcome, in each order and of some statuses', async () => {
    const { base, book } = trial
    for (const outcome of ['paid', 'lapsed', 'owing', 'cancelled', 'owing,cancelled', 'paid,lapsed']) {
      for (const [sort, status] of [['newest'], ['closesAt', 'paid'], ['pool', 'paying,paid']] as const) {
        const query = `outcome=${outcome}&sort=${sort}&limit=100${status === undefined ? '' : `&status=${status}`}`
        const wanted = contests(book, status?.split(','), sort, outcome.split(','))
        const { contests: rows } = await get<Contests>(base, `${API}/contests?${query}`)
        assert.deepEqual(rows, wanted.contests.slice(0, 100), query)
      }
    }
  })
}

function testSortedContests(trial: Trial): void {
  testOutcomes(trial)
  test('contests of every status in each order', async () => {
    const { base, book } = trial
    for (const status of ['upcoming', 'running', 'paying', 'paid', 'closed,upcoming', '']) {
      for (const sort of ['newest', 'closesAt', 'pool', 'prizesNotRedeemed']) {
        const limit = sort === 'newest' || sort === 'closesAt' ? 10_000 : 100
        const query = `sort=${sort}&limit=${limit}${status && `&status=${status}`}`
        const wanted = contests(book, status === '' ? undefined : status.split(','), sort)
        const { contests: rows } = await get<Contests>(base, `${API}/contests?${query}`)
        assert.deepEqual(rows, wanted.contests.slice(0, limit), query)
      }
    }
  })

  test('contests by the words of their titles', async () => {
    const { base, book } = trial
    const all = contests(book).contests
    for (const { title } of all.slice(0, 20)) {
      const [word] = (title ?? '').split(/[^A-Za-z]+/)
      if (word === undefined || word === '') continue
      const asked = word.slice(0, 4).toLowerCase()
      const wanted = all.filter((one) => new RegExp(`\\b${asked}`, 'i').test(one.title ?? ''))
      assert.deepEqual((await get<Contests>(base, `${API}/contests?q=${asked}`)).contests, wanted, asked)
    }
  })
}

function testLedgers(trial: Trial): void {
  test('contest ledgers, on one page and on many', async () => {
    const { base, book } = trial
    for (const id of contestIds(book)) {
      const wanted = contestLedger(book, id)
      assert.deepEqual(await get(base, `${API}/contests/${id}/ledger`), wanted, `contest ${id}`)
      const limit = Math.max(1, Math.ceil(wanted.payouts.length / 3))
      const pages = await pagesOf<ContestLedger>(base, `${API}/contests/${id}/ledger?limit=${limit}`)
      assert.deepEqual(
        pages.flatMap((page) => page.payouts),
        wanted.payouts,
        `contest ${id}`,
      )
    }
  })
}

function testSchedule(trial: Trial): void {
  test('the schedule', async () => {
    assert.deepEqual(await get(trial.base, `${API}/schedule`), schedule(trial.book))
  })
}

function testLoyalty(trial: Trial): void {
  test('the loyalty runs', async () => {
    assert.deepEqual(await get(trial.base, `${API}/loyalty/runs`), loyaltyRuns(trial.book))
  })
}

function testPayouts(trial: Trial): void {
  test('unpaid prizes of all contests and of each, on one page and on many', async () => {
    const { base, book } = trial
    const all = await get<Payouts>(base, `${API}/payouts`)
    assert.deepEqual(all, payouts(book, all.now.atMs))
    for (const id of contestIds(book).slice(0, trial.rounds)) {
      const own = await get<Payouts>(base, `${API}/payouts?contestId=${id}`)
      assert.deepEqual(own, payouts(book, own.now.atMs, { contestIds: [id] }), `contest ${id}`)
    }
    const unpaidIds = contestsIn(all)
    const kinds = [...new Set(all.unpaid.map(({ kind }) => kind))].slice(0, 2)
    for (const asked of [
      { contestIds: unpaidIds },
      { kinds },
      { contestIds: unpaidIds, kinds },
      { kinds: ['absent'] },
    ]) {
      const query = [
        ...('contestIds' in asked ? [`contestId=${asked.contestIds.join(',')}`] : []),
        ...('kinds' in asked ? [`kind=${asked.kinds.join(',')}`] : []),
      ].join('&')
      if (query.endsWith('=')) continue
      const some = await get<Payouts>(base, `${API}/payouts?${query}`)
      assert.deepEqual(some, payouts(book, some.now.atMs, asked), query)
    }
    const limit = Math.max(1, Math.ceil(all.unpaid.length / 3))
    const pages = await pagesOf<Payouts>(base, `${API}/payouts?limit=${limit}`)
    const wanted = payouts(book, pages[0].now.atMs)
    assert.deepEqual(
      pages.flatMap((page) => page.unpaid),
      wanted.unpaid,
    )
    for (const page of pages) assert.deepEqual(page.totals, wanted.totals)
  })
}

function testWaits(trial: Trial): void {
  test('waits, of the default range and of others', async () => {
    const { base, book } = trial
    const { now, ...usual } = await get<Waits>(base, `${API}/waits`)
    assert.ok(now !== null && usual.toMs > now.atMs)
    assert.deepEqual(usual, waits(book, usual.fromMs, usual.toMs))
    assert.ok(usual.fromMs >= usual.toMs - 90 * DAY)
    for (const [from, to] of Array.from({ length: trial.rounds }, () => someRange(trial, DAY * 60))) {
      const [fromMs, toMs] = [Math.floor(from / MINUTE) * MINUTE, Math.ceil(to / MINUTE) * MINUTE]
      if (fromMs === toMs) continue
      const answer = await get<Waits>(base, `${API}/waits?from=${fromMs}&to=${toMs}`)
      assert.deepEqual(answer, { ...waits(book, fromMs, toMs), now: null }, `${fromMs} to ${toMs}`)
    }
  })
}

/** The first contests with unpaid prizes, as many as a query may name. */
function contestsIn({ unpaid }: Payouts): readonly number[] {
  return [...new Set(unpaid.map(({ contestId }) => contestId))].slice(0, 20)
}

function someQuestion(trial: Trial): PageQuestion {
  const { dice, book } = trial
  const model = book[dice(book.length)]?.event
  const [fromMs, toMs] = someRange(trial, DAY * 60)
  const order = dice(2) === 0 ? 'asc' : 'desc'
  return {
    ...(dice(3) === 0 ? { after: dice(book.length) } : {}),
    ...(dice(3) === 0 ? { fromMs, toMs } : {}),
    ...(dice(2) === 0 ? { types: [...new Set([model?.type ?? 'play', 'burn'])] } : {}),
    ...(dice(4) === 0 ? { kind: model?.kind ?? 'entry' } : {}),
    ...(dice(4) === 0 ? { contestId: model?.contestId ?? 1 } : {}),
    ...(dice(4) === 0 ? { nonzero: true } : {}),
    ...(typeof model?.tx === 'string' && dice(2) === 0 ? { tx: model.tx } : {}),
    order,
    ...(order === 'desc' && dice(2) === 0 ? { before: 1 + dice(book.length) } : {}),
    limit: [1, 7, 100, 1000, 10_000][dice(5)] ?? 1000,
  }
}

function queryOf(asked: PageQuestion): string {
  const { fromMs, toMs, types, nonzero, ...same } = asked
  const named = { from: fromMs, to: toMs, type: types?.join(','), nonzero: nonzero === true ? 1 : undefined }
  return Object.entries({ ...same, ...named })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function testPages(trial: Trial): void {
  test('pages of events, forwards and backwards, under any filter', async () => {
    const { base, book } = trial
    for (let round = 0; round < trial.rounds * 4; round += 1) {
      let asked = someQuestion(trial)
      let path: string | null = `${API}/events?${queryOf(asked)}`
      for (let turned = 0; path !== null && turned < 4; turned += 1) {
        const page: EventsPage = await get<EventsPage>(base, path)
        const wanted = eventsPage(book, asked)
        assert.deepEqual(page.events, wanted.events, path)
        const { limit, count, hasMore } = page.page
        assert.deepEqual(
          { limit, count, hasMore },
          { limit: wanted.limit, count: wanted.count, hasMore: wanted.hasMore },
          path,
        )
        if (wanted.scannedTo !== undefined) assert.equal(page.page.scannedTo, wanted.scannedTo, path)
        assert.equal(page.page.next === null, !hasMore, path)
        path = page.page.next
        const seen = page.page.scannedTo
        asked = asked.order === 'desc' ? { ...asked, before: seen } : { ...asked, after: seen }
      }
    }
  })

  test('a filter that matches nothing, on one page', async () => {
    const { base, book } = trial
    const { page } = await get<EventsPage>(base, `${API}/events?kind=no_such_kind_at_all`)
    assert.deepEqual([page.count, page.scannedTo, page.hasMore, page.next], [0, book.length, false, null])
  })

  test('single events and their details', async () => {
    const { base, book, dice } = trial
    for (let round = 0; round < trial.rounds; round += 1) {
      const entry = book[dice(book.length)]
      if (entry === undefined) continue
      const { seq } = entry.event
      assert.deepEqual(await get(base, `${API}/events/${seq}`), entry.event)
      assert.deepEqual(await get(base, `${API}/events/${seq}/details`), { seq, details: entry.details })
    }
  })
}

function testCorrections(trial: Trial): void {
  test('corrections of corrected and of other events', async () => {
    const { base, book, dice } = trial
    const corrected = book.flatMap((entry) => entry.details?.corrects ?? [])
    const asked = Array.from({ length: trial.rounds }, () => 1 + dice(book.length))
    for (const seq of [...corrected.slice(-trial.rounds), ...asked]) {
      assert.deepEqual(await get(base, `${API}/events/${seq}/corrections`), corrections(book, seq), `#${seq}`)
    }
  })
}

/** Tests of each endpoint that `verify` recomputes. One function may test several. */
const TESTS: Readonly<Record<RecomputedEndpoint, (trial: Trial) => void>> = {
  summary: testSummary,
  contests: testSortedContests,
  contest: testContests,
  contestLedger: testLedgers,
  schedule: testSchedule,
  loyaltyRuns: testLoyalty,
  payouts: testPayouts,
  waits: testWaits,
  flows: testSeries,
  funds: testSeries,
  patterns: testPatterns,
  eventCorrections: testCorrections,
}

/** Registers tests that compare every answer of the service with the oracle's, exactly. */
export function testAgainstOracle(trial: Trial): void {
  for (const register of new Set(Object.values(TESTS))) register(trial)
  testDefaultRanges(trial)
  testPages(trial)
}
