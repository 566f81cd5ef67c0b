import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import type { Contests, LoyaltyRuns } from '../../src/protocol/endpoints/contest-endpoints.ts'
import type { EventsPage } from '../../src/protocol/endpoints/event-endpoints.ts'
import type { Flows, Funds, Patterns, Summary, Waits } from '../../src/protocol/endpoints/figure-endpoints.ts'
import type { ArchiveIndex } from '../../src/protocol/endpoints/file-endpoints.ts'
import { DUCKDB, hasNewer, PANDAS, skipUnless } from '../processes/test-needs.ts'
import { billionths, decimal, effects, knownAt, type PublicEntry } from '../oracle/book.ts'
import { download, get } from '../oracle/download.ts'
import { payouts as unpaidPrizes } from '../oracle/payouts.ts'
import { fetchDescribed } from '../stage/described.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { MAIN, SAMPLE } from '../stage/places.ts'
import { type Service, startService } from '../stage/service.ts'
import { csvRows } from './csv-rows.ts'

const run = promisify(execFile)
const ZERO = '0.000000000'
type Engine = 'duckdb' | 'sqlite' | 'pandas' | 'shell'
type Rows = readonly (readonly string[])[]

const blocks = blocksOf(textOf('docs/analysts.md')).map(({ language, text, before: line }) => {
  const [, is, named] = /^<!-- run: (\w+)(?: (sqlite))? -->$/.exec(line) ?? []
  const engine = named ?? { sql: 'duckdb', python: 'pandas', sh: 'shell' }[language]
  return { language, text, is, engine: engine as Engine | undefined }
})
const asked = new Set<string>()

/** Text of the one block of this name for an engine. */
function block(is: string, engine: Engine): string {
  const [found, ...others] = blocks.filter((each) => each.is === is && each.engine === engine)
  assert.ok(found !== undefined && others.length === 0, `${is} for ${engine} is one block`)
  asked.add(`${is} ${engine}`)
  return found.text
}

/** Milliseconds of a moment as DuckDB prints it, without a time zone. */
function msOf(moment = ''): number {
  return Date.parse(`${moment.replace(' ', 'T')}${moment.includes(' ') ? 'Z' : ''}`)
}

/** Milliseconds of an interval as DuckDB prints it: `2 days 08:09:29.378`. */
function intervalMs(text = ''): number {
  const [, days = '0', clock = ''] = /^(?:(\d+) days? ?)?(.*)$/.exec(text) ?? []
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number)
  return Math.round((((Number(days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)
}

/** Drafts of a later month: corrections that lists, counts and loyalty rewards meet, and a new title. */
function laterDrafts(sample: string): readonly object[] {
  const drafts = sample
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const corrected = new Set(drafts.map(({ details }) => details?.corrects))
  const standing = drafts.filter((_, index) => !corrected.has(index + 1))
  const payouts = standing.filter(({ type }) => type === 'payout')
  const [largest, second] = payouts.toSorted((a, b) => Number(b.kots) - Number(a.kots))
  const loyalty = payouts.find(({ kind }) => kind === 'loyalty')
  const plays = standing.find(({ type, details }) => type === 'play' && details?.count > 1)
  const corrections = [largest, loyalty, plays].map((draft) => ({
    type: 'correction',
    kind: draft.type,
    contestId: draft.contestId,
    kots: `-${draft.kots}`,
    details: { corrects: drafts.indexOf(draft) + 1 },
  }))
  const { contestId } = second
  const renamed = { type: 'contest', kind: 'renamed', contestId, details: { title: 'Round "1", renamed' } }
  return [...corrections, renamed].map((draft, hour) => ({ at: `2026-09-01T0${hour}:00:00.000Z`, ...draft }))
}

suite('the questions of analysts', { skip: skipUnless(hasNewer(), 'what .ci/newer-packages brings') }, () => {
  let folder = ''
  let service: Service
  let book: readonly PublicEntry[]
  let summary: Summary

  const ask = async <T>(path: string): Promise<T> => await get<T>(service.url, `/api/v1${path}`)
  const here = (text: string): string => text.replaceAll('http://127.0.0.1:8080', service.url)
  // A day of UTC begins on the day before in New York.
  const options = (): object => ({ cwd: folder, env: { ...process.env, TZ: 'America/New_York' } })

  /** Rows of a statement of DuckDB in the database of the page, in a session of its own. */
  async function sql(...statements: readonly string[]): Promise<Rows> {
    const words = statements.flatMap((statement) => ['-c', here(statement)])
    const shell = ['-no-init', '-batch', '-bail', '-csv', '-noheader', '-nullvalue', '']
    const { stdout } = await run(DUCKDB, ['daybook.duckdb', ...shell, ...words], options())
    return csvRows(stdout.replaceAll('\n', '\r\n'))
  }

  const duckdb = async (is: string): Promise<Rows> => await sql(block(is, 'duckdb'))

  function sqlite(is: string): Rows {
    const db = new DatabaseSync(join(folder, 'book.sqlite'), { readOnly: true })
    try {
      const rows = db.prepare(block(is, 'sqlite')).all()
      return rows.map((row) => Object.values(row).map((value) => String(value ?? '')))
    } finally {
      db.close()
    }
  }

  /** Rows that blocks of pandas print, after that which loads the log. */
  async function pandas(is: string): Promise<Rows> {
    const program = `${block('load', 'pandas')}\n${block(is, 'pandas')}`
    const { stdout } = await run(PANDAS, ['-c', here(program)], options())
    return csvRows(stdout.replaceAll('\n', '\r\n'))
  }

  /** Events that no correction cancelled, newest last, from the API. */
  async function payments(): Promise<readonly EventsPage['events'][number][]> {
    const all = await ask<EventsPage>('/events?type=payout&limit=10000')
    const corrections = await ask<EventsPage>('/events?type=correction&kind=payout&details=1&limit=10000')
    const cancelled = new Set(
      Object.values(corrections.details ?? {}).map((details) => Reflect.get(details, 'corrects')),
    )
    assert.ok(!all.page.hasMore && cancelled.size > 1)
    return all.events.filter(({ seq }) => !cancelled.has(seq))
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'daybook-analysts-'))
    const sample = await readFile(SAMPLE, 'utf8')
    const drafts = join(folder, 'drafts.jsonl')
    await writeFile(
      drafts,
      sample +
        laterDrafts(sample)
          .map((draft) => `${JSON.stringify(draft)}\n`)
          .join(''),
    )
    service = await startService({ drafts })
    book = await download(service.url)
    summary = await ask('/summary')
    await sql(block('load', 'duckdb'), block('views', 'duckdb'))
    const pull = block('book', 'shell').replace(/^daybook /, `"${process.execPath}" "${MAIN}" `)
    await run('bash', ['-euc', here(pull)], options())
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
    const left = blocks.filter(({ is, engine }) => is !== undefined && !asked.has(`${is} ${engine}`))
    assert.deepEqual(left, [], 'every block is run')
  })

  test('have their answers in two closed months and an open one', async () => {
    const { months } = await ask<ArchiveIndex>('/archive')
    assert.deepEqual(
      months.map(({ month, state }) => [month, state]),
      [
        ['2026-07', 'closed'],
        ['2026-08', 'closed'],
        ['2026-09', 'open'],
      ],
    )
    assert.deepEqual(await sql('SELECT count(*), max(seq) FROM events'), [
      [String(book.length), String(book.length)],
    ])
    const idle = blocks.filter(({ is }) => is === undefined)
    assert.deepEqual(
      idle.map(({ language }) => language),
      ['r'],
    )
  })

  test('are asked of one file by its parts', async () => {
    const [statement] = block('look', 'duckdb').split(';')
    const logged = `SELECT request.type, request.headers['Range'] IS NOT NULL, response.status::VARCHAR
      FROM duckdb_logs_parsed('HTTP') ORDER BY request.type DESC`
    const rows = await sql("CALL enable_logging('HTTP', storage = 'memory')", `${statement}`, logged)
    const { events } = (await ask<ArchiveIndex>('/archive')).months[0] ?? {}
    const requests = rows.slice(-2)
    assert.deepEqual(requests, [
      ['HEAD', 'false', 'OK_200'],
      ['GET', 'true', 'PartialContent_206'],
    ])
    const counts = rows.filter((row) => row.length === 4).map(([, , count]) => Number(count))
    assert.equal(
      counts.reduce((one, other) => one + other),
      events,
    )
  })

  test('1: what moved in each month, by kind, as in /flows', async () => {
    const sums = new Map<string, bigint>()
    for (const { entry, subject, kots } of effects(book)) {
      if (entry.event.kots === null) continue
      const key = [`${entry.event.at.slice(0, 7)}-01`, subject.event.type, subject.event.kind].join()
      sums.set(key, (sums.get(key) ?? 0n) + kots)
    }
    const rows = await duckdb('kinds')
    assert.deepEqual(
      new Map(rows.map((row) => [row.slice(0, 3).join(), row[3]])),
      new Map([...sums].map(([key, kots]) => [key, decimal(kots)])),
    )
    const inPandas = await pandas('kinds')
    assert.deepEqual(
      inPandas.map(([month, ...row]) => [`${month}-01`, ...row]),
      rows.filter(([month = '']) => month < '2026-09'),
    )
    const { buckets } = await ask<Flows>('/flows?by=kind&bucket=month&from=2026-07&to=2026-10')
    const told = buckets.flatMap(({ at, spentByKind, paidByKind, burnedByKind }) =>
      Object.entries({ spentOnPlay: spentByKind, paidInPrizes: paidByKind, burned: burnedByKind }).flatMap(
        ([figure, kinds]) => Object.entries(kinds ?? {}).map(([kind, kots]) => [at, figure, kind, kots]),
      ),
    )
    const nonzero = told.filter(([, , , kots]) => kots !== ZERO).map(String)
    assert.deepEqual(sqlite('kinds').map(String).toSorted(), nonzero.toSorted())
    const types: Readonly<Record<string, string>> = {
      play: 'spentOnPlay',
      payout: 'paidInPrizes',
      burn: 'burned',
    }
    const own = rows.flatMap(([month, type = '', kind = '', kots]) =>
      types[type] === undefined || kind === 'refund' || kind === 'loyalty'
        ? []
        : [String([`${month}T00:00:00.000Z`, types[type], kind, kots])],
    )
    assert.deepEqual(own.toSorted(), nonzero.toSorted())
  })

  test('2: the ten largest payments, with the newest title and the transaction', async () => {
    const { contests } = await ask<Contests>('/contests')
    const titles = new Map(contests.map(({ id, title }) => [id, title]))
    const largest = (await payments())
      .toSorted((a, b) => Number(billionths(b.kots ?? '') - billionths(a.kots ?? '')) || a.seq - b.seq)
      .slice(0, 10)
      .map(({ at, contestId, kind, kots, tx }) => [at, titles.get(contestId ?? 0) ?? '', kind, kots, tx])
    const rows = await duckdb('largest')
    assert.deepEqual(
      rows.map(([moment, ...row]) => [new Date(msOf(moment)).toISOString(), ...row]),
      largest,
    )
    assert.deepEqual(sqlite('largest'), largest)
    assert.equal(rows[0]?.[1], 'Round "1", renamed')
  })

  test('3: the time from close to payment, as in /waits', async () => {
    const rows = await duckdb('waits')
    const months = ['2026-07', '2026-08', '2026-09']
    const told = await Promise.all(
      months.slice(0, 2).map(async (month, index) => {
        const { all } = await ask<Waits>(`/waits?from=${month}&to=${months[index + 1]}`)
        return [`${month}-01`, all.paid, all.p50Ms, all.p90Ms, all.maxMs]
      }),
    )
    assert.deepEqual(
      rows.map(([month, paid, ...times]) => [month, Number(paid), ...times.map(intervalMs)]),
      told,
    )
    const { contests } = await ask<Contests>('/contests')
    const slowest = contests
      .filter(({ outcome }) => outcome === 'paid')
      .map(({ id, title, closedAtMs, paidAtMs }) => ({
        id,
        title,
        ms: Number(paidAtMs) - Number(closedAtMs),
      }))
      .toSorted((a, b) => b.ms - a.ms)
    assert.deepEqual(
      sqlite('waits'),
      slowest
        .slice(0, 10)
        .map(({ id, title, ms }) => [String(id), title, String(Math.floor(ms / 3_600_000))]),
    )
  })

  test('4: why prizes were unpaid at any moment, up to the total of /summary', async () => {
    const rows = await duckdb('reasons')
    const days = new Map(sqlite('reasons').map(([at = '', ...sums]) => [Date.parse(at) + 86_400_000, sums]))
    const moments = new Set(rows.map(([until = '']) => until))
    assert.ok(moments.size > 3 && new Set(rows.map(([, reason]) => reason)).size > 3)
    for (const until of moments) {
      const ms = msOf(until)
      const own = new Map<string, string>()
      for (const [at, reason = '', kots = ''] of rows) if (at === until) own.set(reason, kots)
      const { prizesNotRedeemed } = await ask<Summary>(`/summary?at=${ms - 1}`)
      const total = [...own.values()].reduce((one, kots) => one + billionths(kots), 0n)
      assert.equal(decimal(total), prizesNotRedeemed, until)
      const { totals } = unpaidPrizes(knownAt(book, ms - 1), ms)
      const told = Object.entries(totals).filter(([, kots]) => kots !== ZERO)
      assert.deepEqual(own, new Map(told), until)
      const named = ['locked', 'in_review', 'awaiting_claim', 'payable', 'overpaid']
      assert.deepEqual(days.get(ms), [...named.map((reason) => own.get(reason) ?? ZERO), prizesNotRedeemed])
    }
  })

  test('5: a claim about a month, with the row of /flows and the list of /contests', async () => {
    const [[...sums] = []] = await duckdb('claim')
    const { totals } = await ask<Flows>('/flows?from=2026-08&to=2026-09&bucket=month')
    // A sum of nothing is NULL.
    assert.deepEqual(
      sums.map((kots) => (kots === '' ? ZERO : kots)),
      [totals.spentOnPlay, totals.paidInPrizes, totals.paidInLoyalty, totals.refunded],
    )
    const { contests } = await ask<Contests>('/contests')
    const owing = contests
      .filter(({ closedAt, cancelledAt }) => closedAt?.startsWith('2026-08') === true && cancelledAt === null)
      .filter(({ prizesNotRedeemed }) => prizesNotRedeemed !== ZERO)
      .toSorted((a, b) => Number(b.prizesNotRedeemed) - Number(a.prizesNotRedeemed))
    assert.ok(owing.length > 1)
    assert.deepEqual(
      (await duckdb('owing')).map(([id, title, closed, ...amounts]) => [
        Number(id),
        title,
        msOf(closed),
        ...amounts,
      ]),
      owing.map((one) => [one.id, one.title, one.closedAtMs, one.prizesOwed, one.prizesNotRedeemed]),
    )
  })

  test('6: what the treasury holds and what is owed, as in /funds', async () => {
    const { buckets } = await ask<Funds>('/funds?from=2026-07&to=2026-10&bucket=month')
    assert.deepEqual(
      await duckdb('cover'),
      buckets.map(({ at, treasury, prizesNotRedeemed }) => [at.slice(0, 10), treasury, prizesNotRedeemed]),
    )
    const days = await ask<Funds>('/funds?from=2026-07-20&to=2026-09-02&bucket=day')
    assert.deepEqual(
      sqlite('cover'),
      days.buckets.map((day) => [
        day.at,
        day.treasury,
        day.runningPools,
        day.loyaltyFund,
        day.prizesNotRedeemed,
      ]),
    )
  })

  test('7: the prizes that expired, as in /flows', async () => {
    const expiries = effects(book).filter(({ subject }) => subject.event.type === 'expiry')
    const groups = Map.groupBy(expiries, ({ entry, subject }) =>
      [`${entry.event.at.slice(0, 7)}-01`, subject.event.kind].join(),
    )
    const told = [...groups].map(([key, own]) => [
      ...key.split(','),
      String(new Set(own.map(({ subject }) => subject.event.contestId)).size),
      decimal(own.reduce((sum, { kots }) => sum + kots, 0n)),
    ])
    assert.ok(told.length > 0)
    assert.deepEqual((await duckdb('unclaimed')).map(String), told.map(String).toSorted())
    const { totals } = await ask<Flows>('/flows?from=2026-07&to=2026-10&bucket=month')
    assert.equal(decimal(expiries.reduce((sum, { kots }) => sum + kots, 0n)), totals.expired)
  })

  test('8: what corrections changed', async () => {
    const changes = effects(book).filter(({ sign }) => sign === -1)
    const groups = Map.groupBy(changes, ({ entry, subject }) =>
      [`${entry.event.at.slice(0, 7)}-01`, subject.event.type].join(),
    )
    const told = [...groups].map(([key, own]) => [
      ...key.split(','),
      String(own.length),
      decimal(own.reduce((sum, { kots }) => sum + kots, 0n)),
    ])
    assert.deepEqual((await duckdb('corrections')).map(String), told.map(String).toSorted())
    assert.deepEqual(
      sqlite('corrections').map(([at, type, kind, kots, corrects]) => [at, type, kind, kots, corrects]),
      changes.map(({ entry: { event }, subject: { event: was } }) => [
        event.at,
        was.type,
        was.kind,
        event.kots,
        String(was.seq),
      ]),
    )
  })

  test('9: the burned part of what players spent, as in /flows', async () => {
    const { buckets } = await ask<Flows>('/flows?from=2026-07&to=2026-10&bucket=month')
    const rows = await duckdb('burned')
    assert.deepEqual(
      rows.map(([month, ...sums]) => [month, ...sums.slice(0, 2).map((kots) => (kots === '' ? ZERO : kots))]),
      buckets.map(({ at, spentOnPlay, burned }) => [at.slice(0, 10), spentOnPlay, burned]),
    )
    for (const [, spent, burned, percent] of rows.slice(0, 2))
      assert.equal(Number(percent).toFixed(2), ((100 * Number(burned)) / Number(spent)).toFixed(2))
  })

  test('10: the busiest hours, as in /patterns', async () => {
    const { byHour } = await ask<Patterns>('/patterns?from=2026-07-20&to=2026-09-02')
    const rows = await duckdb('hours')
    assert.deepEqual(
      rows.map(([hour, plays, kots]) => [Number(hour), Number(plays), kots]),
      byHour.map(({ hour, plays, spentOnPlay }) => [hour, plays, spentOnPlay]),
    )
    for (const [, , , chart = ''] of rows) assert.match(chart, /^[\u2588-\u258F ]*$/u)
    const closed = await ask<Patterns>('/patterns?from=2026-07-20&to=2026-09-01')
    assert.deepEqual(
      await pandas('hours'),
      closed.byHour.map(({ hour, spentOnPlay }) => [String(hour), spentOnPlay]),
    )
  })

  test('11: the loyalty reward of each month, as in /loyalty/runs', async () => {
    const { runs } = await ask<LoyaltyRuns>('/loyalty/runs')
    const told = runs
      .toReversed()
      .map(({ month, recipients, total, paid, payouts: count }) => [
        month,
        String(recipients ?? ''),
        total ?? '',
        paid,
        String(count),
      ])
    assert.deepEqual(
      (await duckdb('loyalty')).map(([month, recipients, total, paid, count]) => [
        month,
        recipients,
        total,
        paid === '' ? ZERO : paid,
        count,
      ]),
      told,
    )
    assert.deepEqual(sqlite('loyalty'), told)
  })

  test('12: a payment by the beginning of its transaction', async () => {
    const rows = await duckdb('payment')
    assert.equal(rows.length, 1)
    const [[seq, moment, , kind, kots, tx, cancelledBy] = []] = rows
    const { events } = await ask<EventsPage>(`/events?tx=${tx}`)
    assert.deepEqual(
      events.map((event) => [event.seq, event.atMs, event.kind, event.kots]),
      [[Number(seq), msOf(moment), kind, kots]],
    )
    const { details } = await ask<EventsPage>(`/events?after=${Number(cancelledBy) - 1}&limit=1&details=1`)
    assert.deepEqual(details, { [`${cancelledBy}`]: { corrects: Number(seq) } }, 'a later month cancels it')
  })

  test('are answered to R as text, by the database of the page', async () => {
    const r = blocks.find(({ language }) => language === 'r')?.text
    const statement = /"(SELECT [^"]*)"/.exec(r ?? '')?.[1]
    assert.ok(statement !== undefined)
    const rows = await sql(statement)
    const { paidInPrizes, paidInLoyalty, refunded } = summary
    const all = [paidInPrizes, paidInLoyalty, refunded].reduce((sum, kots) => sum + billionths(kots), 0n)
    assert.equal(
      rows.reduce((sum, [, , kots = '']) => sum + billionths(kots), 0n),
      all,
    )
  })

  test('in spreadsheets have addresses with every payment and every cancelled one', async () => {
    const [paid = '', corrections = ''] = ['type=payout&', 'type=correction&kind=payout&details=1&'].map(
      (query) => `/api/v1/events?${query}format=csv`,
    )
    const text = textOf('docs/analysts.md').replaceAll(/\s+/g, ' ')
    assert.ok(text.includes(paid) && text.includes(corrections))
    const rowsAt = async (path: string): Promise<number> =>
      csvRows(await (await fetchDescribed(`${service.url}${path}`)).text()).length - 1
    assert.equal((await rowsAt(paid)) - (await rowsAt(corrections)), summary.payouts)
  })
})
