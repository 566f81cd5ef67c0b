import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Contests } from '../../src/protocol/endpoints/contest-endpoints.ts'
import type { Flows, Summary } from '../../src/protocol/endpoints/figure-endpoints.ts'
import { fetchDescribed } from '../stage/described.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { SAMPLE } from '../stage/places.ts'
import { type Service, startService } from '../stage/service.ts'
import { lacksNewer, PANDAS, PYTHON, skipUnless, skipWithout } from '../processes/test-needs.ts'
import { knownAt } from '../oracle/book.ts'
import { download } from '../oracle/download.ts'
import { payouts } from '../oracle/payouts.ts'
import { csvRows } from './csv-rows.ts'

const run = promisify(execFile)
const blocks = blocksOf(textOf('docs/analysts.md')).map((block) => ({
  ...block,
  is: /^<!-- run: (\w+) -->$/.exec(block.before)?.[1],
}))

function recipe(is: string): string {
  const [found, ...others] = blocks.filter((block) => block.is === is)
  assert.ok(found !== undefined && others.length === 0, `${is} is one recipe`)
  return found.text
}

// R is not run: its packages take longer to install than all other programs of the tests together.
suite('the recipes for analysts', { skip: skipWithout('curl', 'python3') }, () => {
  let folder = ''
  let service: Service | undefined
  let summary: Summary
  let duckdb: DuckDBInstance

  const ask = async (path: string): Promise<unknown> =>
    (await fetchDescribed(`${service?.url}/api/v1${path}`)).json()
  const here = (text: string): string => text.replaceAll('http://127.0.0.1:8080', service?.url ?? '')
  const options = (): Readonly<{ cwd: string }> => ({ cwd: folder })

  async function rowsOf(sql: string): Promise<readonly (readonly string[])[]> {
    const connection = await duckdb.connect()
    await connection.run(`SET file_search_path = '${folder}'`)
    // A day of UTC begins on the day before in New York, where DuckDB would show it so.
    await connection.run("SET TimeZone = 'America/New_York'")
    // A name of a file to write is not searched for.
    const rows = await connection.runAndReadAll(sql.replaceAll(/TO '(\w+\.csv)'/g, `TO '${folder}/$1'`))
    connection.closeSync()
    return rows.getRows().map((row) => row.map(String))
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'daybook-analysts-'))
    service = await startService({ drafts: SAMPLE })
    summary = (await ask('/summary')) as Summary
    duckdb = await DuckDBInstance.create(':memory:')
    for (const { language, text, is } of blocks) {
      if (is !== 'files') continue
      const program = language === 'python' ? [PYTHON, '-c'] : ['bash', '-euc']
      await run(program[0] ?? '', [program[1] ?? '', here(text)], options())
    }
    for (const statement of [...recipe('views').split(/;\n?/), recipe('terms')]) {
      if (statement.trim() !== '') await rowsOf(statement)
    }
  })
  after(async () => {
    duckdb.closeSync()
    await service?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  test('are run, all but those for R', () => {
    const idle = blocks.filter(({ is }) => is === undefined)
    assert.deepEqual(
      idle.map(({ language }) => language),
      ['r'],
    )
  })

  test('meet corrections, refunds and loyalty rewards in the sample', async () => {
    const [[corrections, refunds, loyalty] = []] = await rowsOf(
      "SELECT count(*) FILTER (type = 'correction' AND kind = 'payout'), count(*) FILTER (kind = 'refund'), " +
        "count(*) FILTER (type = 'payout' AND kind = 'loyalty') FROM events",
    )
    assert.ok(Number(corrections) > 0 && Number(refunds) > 0 && Number(loyalty) > 0)
  })

  test('fetch every month file, and later only the open month', async () => {
    const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl.gz')).toSorted()
    assert.deepEqual(files, [
      '2026-07.details.jsonl.gz',
      '2026-07.jsonl.gz',
      '2026-08.details.jsonl.gz',
      '2026-08.jsonl.gz',
    ])
    const [first] = blocks.filter(({ is, language }) => is === 'files' && language === 'python')
    const { stdout } = await run(PYTHON, ['-c', here(first?.text ?? '')], options())
    assert.deepEqual(stdout.trim().split('\n').toSorted(), ['2026-08.details.jsonl.gz', '2026-08.jsonl.gz'])
  })

  test('sum in DuckDB to the totals of /summary', async () => {
    const { spentOnPlay, paidInPrizes, paidInLoyalty, refunded, burned } = summary
    const { deposited, withdrawn, sponsored, expired } = summary
    assert.deepEqual(await rowsOf(recipe('totals')), [
      [spentOnPlay, paidInPrizes, paidInLoyalty, refunded, burned, deposited, withdrawn, sponsored, expired],
    ])
  })

  test('make a table of every payment and correction that adds up to what was paid', async () => {
    await rowsOf(recipe('payments'))
    const text = await readFile(join(folder, 'payments.csv'), 'utf8')
    const [head = [], ...rows] = csvRows(text.replaceAll('\n', '\r\n'))
    assert.deepEqual(head, [
      'seq',
      'moment',
      'contestId',
      'title',
      'kind',
      'kots',
      'tx',
      'corrects',
      'cancelledBy',
    ])
    const standing = rows.filter((row) => row[7] === '' && row[8] === '')
    assert.equal(standing.length, summary.payouts)
    const pairs = new Map(rows.filter((row) => row[8] !== '').map((row) => [row[8], row[0]]))
    assert.ok(pairs.size > 0)
    assert.deepEqual(pairs, new Map(rows.filter((row) => row[7] !== '').map((row) => [row[0], row[7]])))
    const sumOf = (chosen: readonly (readonly string[])[], isPaid: (kind: string) => boolean): bigint =>
      chosen
        .filter((row) => isPaid(row[4] ?? ''))
        .reduce((one, row) => one + BigInt(row[5]?.replace('.', '') ?? ''), 0n)
    const isPrize = (kind: string): boolean => kind !== 'refund' && kind !== 'loyalty'
    const prizes = BigInt(summary.paidInPrizes.replace('.', ''))
    assert.equal(sumOf(rows, isPrize), prizes)
    assert.equal(sumOf(standing, isPrize), prizes, 'as the recipe for R adds them')
    const loyalty = BigInt(summary.paidInLoyalty.replace('.', ''))
    assert.equal(
      sumOf(rows, (kind) => kind === 'loyalty'),
      loyalty,
    )
    for (const [, , contestId, title, , , tx, corrects] of rows) {
      assert.equal(title === '', contestId === '')
      assert.match(tx ?? '', corrects === '' ? /^\w{80,}$/ : /^$/)
    }
  })

  test('chart the unpaid prizes by week, up to those of /summary', async () => {
    const weeks = await rowsOf(recipe('weeks'))
    assert.ok(weeks.length > 4)
    assert.equal(weeks.at(-1)?.[2], summary.prizesNotRedeemed)
    for (const [week = '', , , chart = ''] of weeks) {
      assert.equal(new Date(week).getUTCDay(), 1)
      assert.match(chart, /^[\u2588-\u258F ]*$/u)
    }
  })

  test('tell why prizes were unpaid at any moment, up to the total of /summary', async () => {
    const book = await download(service?.url ?? '')
    const rows = await rowsOf(recipe('reasons'))
    const moments = new Set(rows.map(([until]) => until ?? ''))
    assert.ok(moments.size > 3 && new Set(rows.map(([, reason]) => reason)).size > 3)
    const billionths = (amount = ''): bigint => BigInt(amount.replace('.', ''))
    for (const until of moments) {
      const ms = Date.parse(`${until.replace(' ', 'T')}Z`)
      const own = rows.flatMap(([at, reason = '', kots = '']) =>
        at === until ? [[reason, kots] as const] : [],
      )
      const { prizesNotRedeemed } = (await ask(`/summary?at=${ms - 1}`)) as Summary
      assert.equal(
        own.reduce((sum, [, kots]) => sum + billionths(kots), 0n),
        billionths(prizesNotRedeemed),
        until,
      )
      const { totals } = payouts(knownAt(book, ms - 1), ms)
      const told = Object.entries(totals).filter(([, kots]) => billionths(kots) !== 0n)
      assert.deepEqual(new Map(own), new Map(told), until)
    }
  })

  test('check a claim about a month with the row of /flows', async () => {
    const [[spent, paid, ...others] = []] = await rowsOf(recipe('claim'))
    const { totals } = (await ask('/flows?from=2026-08-01&to=2026-09-01')) as Flows
    assert.deepEqual([spent, paid], [totals.spentOnPlay, totals.paidInPrizes])
    // A sum of nothing is NULL.
    const sums = others.map((sum) => (sum === 'null' ? '0.000000000' : sum))
    assert.deepEqual(sums, [totals.paidInLoyalty, totals.refunded])
    const { stdout } = await run('bash', ['-euc', here(recipe('flows'))], options())
    const [head = [], row = [], ...more] = csvRows(stdout)
    assert.equal(more.length, 0)
    assert.deepEqual([row[head.indexOf('spentOnPlay')], row[head.indexOf('paidInPrizes')]], [spent, paid])
  })

  test('list the contests that closed in a month and still owe prizes', async () => {
    const rows = await rowsOf(recipe('owing'))
    const { contests } = (await ask('/contests')) as Contests
    const owing = contests.filter(
      ({ closedAt, prizesNotRedeemed }) =>
        closedAt?.startsWith('2026-08') === true && Number(prizesNotRedeemed) !== 0,
    )
    assert.ok(owing.length > 1)
    assert.deepEqual(
      new Map(rows.map(([id, title, , owed, unpaid]) => [id, [title, owed, unpaid]])),
      new Map(owing.map((one) => [String(one.id), [one.title, one.prizesOwed, one.prizesNotRedeemed]])),
    )
  })

  test(
    'sum in pandas to the totals of /summary',
    { skip: skipUnless(!lacksNewer(), 'what .ci/newer-packages brings') },
    async () => {
      const { stdout } = await run(PANDAS, ['-c', recipe('pandas')], options())
      const [total, ...rest] = stdout.trim().split('\n')
      assert.equal(total, summary.paidInPrizes)
      const { totals } = (await ask('/flows?from=2026-08-01&to=2026-09-01')) as Flows
      assert.equal(rest[1], `2026-08,${totals.paidInPrizes}`)
      assert.equal(rest.at(-1), summary.prizesNotRedeemed)
    },
  )

  test('name addresses for spreadsheets that hold every payment and every cancelled one', async () => {
    const [payments = '', corrections = ''] = ['type=payout&', 'type=correction&kind=payout&details=1&'].map(
      (query) => `/api/v1/events?${query}format=csv`,
    )
    const text = textOf('docs/analysts.md').replaceAll(/\s+/g, ' ')
    assert.ok(text.includes(payments) && text.includes(corrections))
    const rowsAt = async (path: string): Promise<number> =>
      csvRows(await (await fetchDescribed(`${service?.url}${path}`)).text()).length - 1
    assert.equal((await rowsAt(payments)) - (await rowsAt(corrections)), summary.payouts)
  })
})
