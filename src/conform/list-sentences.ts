import { escapeFormula } from '../protocol/foreign-text.ts'
import { tableTerms, type TableEndpoint } from '../protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS } from '../protocol/paths.ts'
import { valueAt } from './check.ts'
import type { ConformRun } from './part.ts'
import { differenceAt } from './page-sentences.ts'
import { assertSteady, type Compared, get, type WalkSentence } from './walk-part.ts'
import { requestText } from './run-script.ts'

/** Rows of a list that is read in pages. */
const LIST_ROWS = 200
const LIST_PAGES = 4

/** Sentences about lists: their pages, their CSV, and the tags of all answers. */
export const LIST_SENTENCES: readonly WalkSentence<null>[] = [
  {
    sentence: 'The contests come page by page, each once.',
    requests: 1 + LIST_PAGES,
    check: (run) => assertPages(run, '/api/v1/contests', 'contests', ({ id }) => String(id)),
  },
  {
    sentence: 'The unpaid prizes come page by page, each once.',
    requests: 1 + LIST_PAGES,
    check: (run) => assertPages(run, '/api/v1/payouts', 'unpaid', (row) => JSON.stringify(row)),
  },
  {
    sentence: 'The CSV of a list has the values of its JSON.',
    requests: 12,
    async check(run) {
      for (const id of ['contests', 'payouts', 'flows', 'funds', 'loyaltyRuns', 'waits'] as const)
        await assertTable(run, id)
    },
  },
  {
    sentence: 'An answer that has not changed is 304 for a reader who has its tag.',
    requests: 36,
    async check(run) {
      for (const target of TAGGED) await assertTag(run, target)
    },
  },
]

type Row = Readonly<Record<string, unknown>>

async function assertPages(
  run: ConformRun,
  path: string,
  list: string,
  keyOf: (row: Row) => string,
): Promise<void> {
  await assertSteady(run, 1 + LIST_PAGES, async (reserved) => {
    const whole = `${path}?limit=${LIST_ROWS}`
    const answer = await get(run, whole, { reserved })
    const wanted = rowsIn(answer.json(), list).map(keyOf)
    const seqs = [answer.headers.get('daybook-seq')]
    const isWhole = valueAt(answer.json(), 'next') === null
    const limit = Math.max(1, Math.ceil(wanted.length / LIST_PAGES))
    const found: string[] = []
    const first = `${path}?limit=${limit}`
    let target: string | null = first
    for (let page = 0; page < LIST_PAGES && target !== null && found.length < wanted.length; page++) {
      const part = await get(run, target, { reserved })
      found.push(...rowsIn(part.json(), list).map(keyOf))
      seqs.push(part.headers.get('daybook-seq'))
      const next: unknown = valueAt(part.json(), 'next')
      target = typeof next === 'string' ? next : null
    }
    const at = wanted.findIndex((key, index) => found[index] !== key)
    const isOver = !isWhole || target === null || wanted.length === 0
    const was =
      at >= 0
        ? `row ${at + 1}: ${found[at] ?? 'nothing'}`
        : found.length > wanted.length || !isOver
          ? 'further rows'
          : null
    const shown = at >= 0 ? `row ${at + 1} of ${whole}: ${wanted[at]}` : `no row that ${whole} lacks`
    return { request: `GET ${first}, and its next pages`, wanted: shown, was, seqs }
  })
}

const rowsIn = (json: unknown, list: string): readonly Row[] => {
  const rows = valueAt(json, list)
  return Array.isArray(rows) ? rows : []
}

async function assertTable(run: ConformRun, id: TableEndpoint): Promise<void> {
  const path = ENDPOINT_PATHS[id]
  const query = id === 'contests' || id === 'payouts' ? `limit=${LIST_ROWS}` : ''
  await assertSteady(run, 2, async (reserved): Promise<Compared> => {
    const json = await get(run, `${path}?${query}`, { reserved })
    const target = `${path}?${query}${query === '' ? '' : '&'}format=csv`
    const csv = await get(run, target, { reserved })
    const [columns = [], ...rows] = parseCsv(csv.body.toString())
    const wanted = rowsIn(json.json(), tableTerms(id).list)
    const cells = wanted.map((row) => columns.map((column) => cellOf(valueAt(row, column))))
    const [is = [], due = []] = [rows, cells].map((table) => table.map((row) => JSON.stringify(row)))
    const at = differenceAt(is, due)
    return {
      request: `GET ${target}`,
      wanted: at === undefined ? '' : `row ${at + 1}: ${due[at] ?? 'no further row'}`,
      was: at === undefined ? null : (is[at] ?? 'no further row'),
      seqs: [json.headers.get('daybook-seq'), csv.headers.get('daybook-seq')],
    }
  })
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return escapeFormula(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Rows of a CSV by RFC 4180, the header first. Ends where the text is none. */
function parseCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\r\n') rows.push([])
  }
  // After the last line end nothing follows.
  return rows.slice(0, -1)
}

/** Answers whose tags are tried. */
const TAGGED = [
  '/api/v1/summary',
  '/api/v1/contests?limit=5',
  '/api/v1/schedule',
  '/api/v1/schedule.ics',
  '/api/v1/payouts?limit=5',
  '/api/v1/flows',
  '/api/v1/funds',
  '/api/v1/waits',
  '/api/v1/patterns',
  '/api/v1/loyalty/runs',
  '/api/v1/events?limit=5',
  '/api/v1/events?order=desc&limit=5',
  '/api/v1/archive',
  '/api/v1/log/checkpoint',
  '/api/v1/log/keys',
  '/api/v1/event-types',
  '/api/v1/openapi.json',
  '/api/v1/asyncapi.json',
]

async function assertTag(run: ConformRun, target: string): Promise<void> {
  await assertSteady(run, 2, async (reserved) => {
    const whole = await get(run, target, { reserved })
    const tag = whole.headers.get('etag') ?? ''
    const request = { method: 'GET', target, headers: { 'If-None-Match': tag }, reserved }
    const again = await run.sender.send(request)
    const own = again.headers.get('etag') ?? ''
    const was = [
      ...(tag === '' ? ['no ETag'] : []),
      ...(again.code === 304 ? [] : [`status ${again.code}`]),
      ...(again.body.byteLength > 0 && again.code === 304 ? ['a body'] : []),
      ...(again.code !== 304 || weak(own) === weak(tag) ? [] : [`ETag ${own}`]),
      ...(again.headers.get('access-control-allow-origin') === '*' ? [] : ['no CORS']),
    ]
    return {
      request: requestText(request),
      wanted: `304 with the ETag ${tag}, open to every site`,
      was: was.length === 0 ? null : was.join(', '),
      seqs: [whole.headers.get('daybook-seq'), again.headers.get('daybook-seq')],
    }
  })
}

const weak = (tag: string): string => tag.replace(/^W\//, '')
