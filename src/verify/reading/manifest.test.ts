import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { monthOf, msOf } from '../../protocol/moment.ts'
import { type ListedMonth, listMonths, parseServedManifest, sha256SumsOf } from './manifest.ts'
import type { Source } from './source.ts'
import { formatBase64 } from '../../tlog/note.ts'

const MONTH = monthOf(msOf(Date.UTC(2026, 9, 5)))
const digest = (digit: string): object => ({ bytes: 10, sha256: digit.repeat(64) })
const MANIFEST = {
  month: MONTH,
  firstSeq: 3,
  lastSeq: 5,
  events: 3,
  firstIndex: 2,
  size: 5,
  root: formatBase64(new Uint8Array(32)),
  checkpoint: 'a note',
  lines: digest('1'),
  gzip: digest('2'),
  details: { ...digest('3'), lines: digest('4') },
}
const EMPTY = { events: 0, firstSeq: null, lastSeq: null, firstIndex: null }

const parse = (change: object): unknown => parseServedManifest('a place', { ...MANIFEST, ...change }, MONTH)

suite('the manifest of a month', () => {
  test('is read as it is written, also that of a month without events', () => {
    assert.deepEqual(parse({}), {
      ...Object.fromEntries(Object.entries(MANIFEST).filter(([name]) => name !== 'firstIndex')),
      root: new Uint8Array(32),
    })
    assert.ok(parse(EMPTY))
  })

  const table: readonly (readonly [change: object, field: string])[] = [
    [{ month: '2026-11' }, 'month'],
    [{ events: '3' }, 'events'],
    [{ size: -1 }, 'size'],
    [{ firstSeq: null }, 'firstSeq'],
    [{ lastSeq: 5.5 }, 'lastSeq'],
    [{ firstIndex: 3 }, 'firstIndex'],
    [{ ...EMPTY, firstSeq: 3 }, 'firstSeq'],
    [{ ...EMPTY, lastSeq: 3 }, 'lastSeq'],
    [{ ...EMPTY, firstIndex: 3 }, 'firstIndex'],
    [{ lastSeq: 4 }, 'size'],
    [{ events: 2 }, 'size'],
    [{ root: 'no hash' }, 'root'],
    [{ root: formatBase64(new Uint8Array(31)) }, 'root'],
    [{ checkpoint: null }, 'checkpoint'],
    [{ lines: { sha256: '1'.repeat(64) } }, 'lines'],
    [{ lines: { bytes: 10 } }, 'lines'],
    [{ lines: { bytes: 10, sha256: '1'.repeat(63) } }, 'lines'],
    [{ gzip: null }, 'gzip'],
    [{ gzip: { bytes: 10, sha256: 'A'.repeat(64) } }, 'gzip'],
    [{ details: null }, 'details'],
    [{ details: digest('3') }, 'details.lines'],
  ]
  for (const [change, field] of table) {
    test(`names its malformed ${field}: ${JSON.stringify(change).slice(0, 60)}`, () =>
      assert.throws(() => parse(change), new RegExp(`a place: ${field} is malformed$`)))
  }
})

/** Row of the list of months; of an open month without further fields. */
function rowOf(month: string, fields: object = {}): object {
  const files = {
    url: `/api/v1/archive/${month}.jsonl.gz`,
    detailsUrl: `/api/v1/archive/${month}.details.jsonl.gz`,
  }
  const digests = { bytes: null, sha256: null, linesSha256: null }
  return { ...files, month, state: 'open', parquetUrl: null, ...digests, ...fields }
}

const FIRST = { ...MANIFEST, month: '2026-09', firstSeq: 1, firstIndex: 0, lastSeq: 2, size: 2, events: 2 }
const DIGESTS = { bytes: 10, sha256: '2'.repeat(64), linesSha256: '1'.repeat(64) }
const closedRow = ({ month, firstSeq, lastSeq, events }: typeof MANIFEST | typeof FIRST): object =>
  rowOf(month, {
    state: 'closed',
    parquetUrl: `/api/v1/archive/${month}.parquet`,
    firstSeq,
    lastSeq,
    events,
    ...DIGESTS,
  })
const openRow = rowOf('2026-11', { firstSeq: 6, lastSeq: 9, events: 4 })
const ROWS = [closedRow(FIRST), closedRow(MANIFEST), openRow]

/** Months of a service or folder with these rows; null when it has no list. */
async function months(
  rows: readonly object[] | null,
  { is = 'service', lacks = [] }: Readonly<{ is?: Source['is']; lacks?: readonly string[] }> = {},
): Promise<readonly ListedMonth[]> {
  const files = new Map<string, object>([
    ['archive/2026-09.json', FIRST],
    ['archive/2026-10.json', MANIFEST],
    ...(rows === null ? [] : [['archive', { months: rows }] as const]),
  ])
  return listMonths({
    is,
    read: async (path) =>
      files.has(path) && !lacks.includes(path) ? Buffer.from(JSON.stringify(files.get(path))) : undefined,
    months: async () => ['2026-09', '2026-10', '2026-11'],
    pause: async () => undefined,
  })
}

const stateOf = ({ month, closed, manifest }: ListedMonth): string =>
  `${month} ${closed ? 'closed' : 'open'} ${manifest?.size ?? null}`

suite('the months of an archive', () => {
  const expected = ['2026-09 closed 2', '2026-10 closed 5', '2026-11 open null']

  test('are listed in their order, with the manifests of the closed ones', async () => {
    assert.deepEqual((await months(ROWS)).map(stateOf), expected)
    assert.deepEqual((await months([])).map(stateOf), [])
  })

  test('are those with a file in a folder without the list', async () => {
    assert.deepEqual((await months(null, { is: 'folder' })).map(stateOf), expected)
  })

  test('may lack manifests in a folder, and not in a service', async () => {
    const lacks = ['archive/2026-10.json']
    const found = await months(ROWS, { is: 'folder', lacks })
    assert.deepEqual(found.map(stateOf), ['2026-09 closed 2', '2026-10 closed null', '2026-11 open null'])
    await assert.rejects(months(ROWS, { lacks }), /2026-10\.json: is missing, though the month is closed/)
  })

  const [first = {}, second = {}] = ROWS
  const table: readonly (readonly [what: string, rows: readonly object[], says: RegExp])[] = [
    ['have no name', [rowOf('October')], /archive: a month is malformed/],
    ['leave one out', [first, openRow], /2026-11 does not follow 2026-09/],
    [
      'go on after an open one',
      [first, rowOf(MONTH, { lastSeq: 5, firstSeq: 3, events: 3 }), openRow],
      /2026-10 is open before 2026-11/,
    ],
    [
      'state other events than a manifest',
      [first, { ...second, events: 4 }, openRow],
      /2026-10: events contradicts/,
    ],
    [
      'state another digest than a manifest',
      [{ ...first, sha256: '' }, second],
      /2026-09: sha256 contradicts/,
    ],
    [
      'leave out events before the open one',
      [first, second, { ...openRow, firstSeq: 7, events: 3 }],
      /2026-11: \w+ contradicts/,
    ],
  ]
  for (const [what, rows, says] of table) {
    test(`are refused when they ${what}`, async () => assert.rejects(months(rows), says))
  }

  test('have the digests of both files of each closed one in SHA256SUMS', async () => {
    const [gzip, details] = ['2'.repeat(64), '3'.repeat(64)]
    assert.equal(
      sha256SumsOf((await months(ROWS)).slice(1)),
      `${gzip}  2026-10.jsonl.gz\n${details}  2026-10.details.jsonl.gz\n`,
    )
  })
})
