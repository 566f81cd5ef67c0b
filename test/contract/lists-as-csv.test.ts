import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import {
  type Arbitrary,
  assert as assertProperty,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
} from 'fast-check'
import {
  ENDPOINTS,
  TABLE_ENDPOINTS,
  type TableEndpoint,
  tableTerms,
} from '../../src/protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS } from '../../src/protocol/paths.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import type { Flows } from '../../src/protocol/endpoints/figure-endpoints.ts'
import { LAUNCH, plan } from '../story/api-story.ts'
import { csvRows } from './csv-rows.ts'
import { textOf } from '../stage/document.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'

type Json = Readonly<Record<string, unknown>>

/** Rows of the JSON, as the protocol says that they stand in the CSV: field by field, null for an empty cell. */
function rowsIn(id: TableEndpoint, answer: Json): readonly Json[] {
  const rows = answer[tableTerms(id).list] as readonly Json[]
  if (id !== 'patterns') return rows
  return rows.flatMap(({ byKind, ...cell }) => [
    cell,
    ...Object.entries(byKind as Json).map(([kind, spent]) => ({
      day: cell['day'],
      hour: cell['hour'],
      kind,
      byKind: spent,
    })),
  ])
}

function cellOf(row: Json, column: string): string {
  const value = column.split('.').reduce<unknown>((at, name) => (at as Json | null)?.[name], row)
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const STORY = [
  { type: 'treasury', kind: 'deposit', kots: '1000000' },
  plan(1, '=HYPERLINK("x"), "quoted"', 0),
  { type: 'contest', kind: 'opened', contestId: 1 },
  { type: 'play', kind: 'entry', contestId: 1, kots: '10.5' },
  { type: 'play', kind: 'vote', contestId: 1, kots: '2.25' },
  { type: 'pool', kind: 'top_up', contestId: 1, kots: '999.000000001' },
  { type: 'contest', kind: 'closed', contestId: 1 },
  ...['a', 'b', 'c'].map((kind) => ({ type: 'prize', kind, contestId: 1, kots: '60' }) as const),
  ...[1, 2, 3].map(
    (n) => ({ type: 'payout', kind: 'a', contestId: 1, kots: String(n), tx: `transaction-000${n}` }) as const,
  ),
  plan(2, ' @sum, two', 1),
  plan(3, null, 2),
  plan(4, 'Ünïcode “cup” 東京', 3),
] as const

let stage: ApiStage
before(async () => {
  stage = await openApiStage({ story: STORY })
})
after(() => stage[Symbol.asyncDispose]())

function pathOf(id: TableEndpoint): string {
  return ENDPOINT_PATHS[id].replace('{id}', '1')
}

/** Random queries of each list, some of them refused. */
function queries(id: TableEndpoint): Arbitrary<string> {
  const times = constantFrom('2026-10', '2026-09-28', '2026-10-01T00:05Z', '2026-10-02', String(LAUNCH), 'x')
  const limit = oneof(integer({ min: 1, max: 4 }), constantFrom(1000, 10_000, 0))
  const values: Readonly<Record<string, Arbitrary<string | number>>> = {
    from: times,
    to: times,
    bucket: constantFrom('hour', 'day', 'week', 'minute', 'year'),
    by: constantFrom('kind', 'type'),
    tz: integer({ min: -900, max: 900 }),
    status: constantFrom('upcoming', 'closed', 'running,paying', 'open'),
    contestId: integer({ min: 0, max: 3 }),
    after: integer({ min: 0, max: 14 }),
    limit,
  }
  const names = ENDPOINTS.find((one) => one.id === id)?.parameters.map(({ name }) => name) ?? []
  const model = names.filter((name) => values[name] !== undefined)
  return record(Object.fromEntries(model.map((name) => [name, values[name] ?? constant('')])), {
    requiredKeys: [],
  }).map((asked) =>
    new URLSearchParams(Object.entries(asked).map(([name, value]) => [name, String(value)])).toString(),
  )
}

suite('format=csv', () => {
  test('is taken by every list, and by /events', () => {
    const taking = ENDPOINTS.filter(({ parameters }) => parameters.some(({ name }) => name === 'format'))
    assert.deepEqual(new Set(taking.map(({ id }) => id)), new Set([...TABLE_ENDPOINTS, 'events']))
  })

  for (const id of TABLE_ENDPOINTS) {
    const path = pathOf(id)
    test(`of ${path} has the cells of the JSON, and the columns that the protocol names`, async () => {
      const csv = await stage.get(`${path}?format=csv`)
      assert.equal(csv.status, 200)
      assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
      assert.match(
        csv.headers.get('content-disposition') ?? '',
        /^attachment; filename="daybook-[\w.-]+\.csv"$/,
      )
      const [header, ...rows] = csvRows(await csv.text())
      const columns = header ?? []
      const answer = (await (await stage.get(path)).json()) as Json
      const wanted = rowsIn(id, answer)
      assert.ok(wanted.length > 0 || id === 'loyaltyRuns')
      const shown = (text: string): string => text.replace(/^'(?=\s*[=+@-])/, '')
      assert.deepEqual(
        rows.map((row) => row.map(shown)),
        wanted.map((row) => columns.map((column) => cellOf(row, column))),
      )
      const short = path.replace('/api/v1', '').replace('/1/', '/{id}/')
      const documented = `| \`${short}\` | ${tableTerms(id).row} | ${columns.join(' ')} |`
      assert.ok(textOf('PROTOCOL.md').includes(documented), documented)
    })

    test(`of ${path} has the bytes of the page’s .csv, for every query`, async () => {
      const twin = path.replace('/api/v1', '')
      await assertProperty(
        asyncProperty(queries(id), async (query) => {
          const answer = await stage.get(`${path}?${query === '' ? '' : `${query}&`}format=csv`)
          const page = await stage.get(`${twin}.csv${query === '' ? '' : `?${query}`}`)
          assert.equal(page.status, answer.status, query)
          assert.deepEqual(await page.bytes(), await answer.bytes(), query)
          for (const name of [
            'content-type',
            'content-disposition',
            'cache-control',
            'etag',
            'daybook-seq',
          ]) {
            assert.equal(page.headers.get(name), answer.headers.get(name), `${name} of ${query}`)
          }
          if (answer.status !== 200) return
          const json = await stage.get(`${path}?${query}`)
          const { next } = (await json.json()) as { next?: string | null }
          const linked = next === null || next === undefined ? null : `<${next}>; rel="next"`
          assert.equal(json.headers.get('link'), linked)
          assert.equal(answer.headers.get('link'), linked?.replace('>', '&format=csv>') ?? null)
          assert.ok(page.headers.get('link')?.includes(`<${twin}.metadata.json`))
        }),
        { numRuns: 25 },
      )
    })
  }

  test('of amounts by kind has a row for each kind in each bucket', async () => {
    const path = '/api/v1/flows?from=2026-10-01&to=2026-10-03&by=kind'
    const { buckets } = (await (await stage.get(path)).json()) as Flows
    const [header, ...rows] = csvRows(await (await stage.get(`${path}&format=csv`)).text())
    assert.deepEqual(header, ['bucket', 'figure', 'kind', 'kots'])
    const cells = buckets.flatMap(({ at, spentByKind = {}, paidByKind = {}, burnedByKind = {} }) =>
      Object.entries({ spentOnPlay: spentByKind, paidInPrizes: paidByKind, burned: burnedByKind }).flatMap(
        ([figure, kinds]) => Object.entries(kinds).map(([kind, kots]) => [at, figure, kind, kots]),
      ),
    )
    assert.equal(cells.length, 6)
    assert.deepEqual(rows, cells)
    assert.ok(textOf('PROTOCOL.md').includes('the columns `bucket,figure,kind,kots`'))
  })

  test('of a settled range is immutable, and its ETag is that of its own bytes', async () => {
    const path = '/api/v1/flows?from=2026-10-01T00:00Z&to=2026-10-01T00:05Z&bucket=minute'
    const [json, csv] = [await stage.get(path), await stage.get(`${path}&format=csv`)]
    assert.equal(csv.headers.get('cache-control'), IMMUTABLE)
    assert.notEqual(csv.headers.get('etag'), json.headers.get('etag'))
    const again = await stage.get(`${path}&format=csv`, { 'If-None-Match': csv.headers.get('etag') ?? '' })
    assert.equal(again.status, 304)
  })

  test('puts an apostrophe before a title that a spreadsheet would run', async () => {
    const text = await (await stage.get('/api/v1/contests?format=csv')).text()
    assert.ok(text.includes(`"'=HYPERLINK(""x""), ""quoted"""`))
    assert.ok(text.includes(`"' @sum, two"`))
  })
})

suite('Accept: text/csv', () => {
  const CSV = { Accept: 'text/csv' }
  const LISTED = [
    ...TABLE_ENDPOINTS.map(pathOf),
    '/api/v1/events?limit=3',
    '/api/v1/events?limit=100',
    '/api/v1/events',
  ]

  for (const path of LISTED) {
    test(`of ${path} has the bytes of format=csv, another ETag than the JSON, and Vary`, async () => {
      const [plain, chosen] = [await stage.get(path), await stage.get(path, CSV)]
      const named = await stage.get(`${path}${path.includes('?') ? '&' : '?'}format=csv`)
      assert.equal(chosen.status, 200)
      assert.deepEqual(await chosen.bytes(), await named.bytes())
      for (const name of ['content-type', 'content-disposition', 'link', 'daybook-seq', 'etag']) {
        assert.equal(chosen.headers.get(name), named.headers.get(name), name)
      }
      assert.match(plain.headers.get('content-type') ?? '', /^application\/json/)
      for (const one of [plain, chosen])
        assert.match(one.headers.get('vary') ?? '', /^Accept(?:, Accept-Encoding)?$/)
      assert.doesNotMatch(named.headers.get('vary') ?? '', /Accept(?!-)/)
      const tags = [plain, chosen].map(({ headers }) => headers.get('etag') ?? '')
      assert.notEqual(tags[0], tags[1])
      for (const [index, headers] of [{}, CSV].entries()) {
        const ask = async (tag = ''): Promise<number> =>
          (await stage.get(path, { ...headers, 'If-None-Match': tag })).status
        assert.deepEqual([await ask(tags[index]), await ask(tags[1 - index])], [304, 200])
      }
    })
  }

  test('is never kept as immutable, so that no cache without Vary gives it to others', async () => {
    const path = '/api/v1/events?limit=3'
    for (const [headers, caching, type] of [
      [{}, IMMUTABLE, /json/],
      [CSV, 'public, max-age=0, must-revalidate', /csv/],
      [{}, IMMUTABLE, /json/],
      [{ Accept: 'application/json;q=0, */*' }, 'public, max-age=0, must-revalidate', /csv/],
    ] as const) {
      const answer = await stage.get(path, headers)
      assert.equal(answer.headers.get('cache-control'), caching)
      assert.match(answer.headers.get('content-type') ?? '', type)
    }
  })

  test('gives way to a format in the query, however it is encoded', async () => {
    for (const name of ['format', 'f%6Frmat']) {
      const answer = await stage.get(`/api/v1/contests?${name}=json`, CSV)
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
      assert.equal(answer.headers.get('vary'), 'Accept-Encoding')
    }
  })

  test('changes nothing where an address has one form, or a page', async () => {
    for (const [path, type] of [
      ['/api/v1/summary', /^application\/json/],
      ['/api/v1/events/1', /^application\/json/],
      ['/contests', /^text\/html/],
      ['/contests.csv', /^text\/csv/],
    ] as const) {
      const answer = await stage.get(path, CSV)
      assert.equal(answer.status, 200)
      assert.match(answer.headers.get('content-type') ?? '', type)
      assert.doesNotMatch(answer.headers.get('vary') ?? '', /Accept(?!-)/)
    }
  })

  test('does not change what is refused, nor how', async () => {
    for (const path of ['/api/v1/flows?bucket=x', '/api/v1/contests?foo=1', '/api/v1/contests/99/ledger']) {
      const [plain, chosen] = [await stage.get(path), await stage.get(path, CSV)]
      assert.equal(chosen.headers.get('content-type'), 'application/problem+json')
      assert.deepEqual(await chosen.json(), await plain.json())
    }
  })
})
