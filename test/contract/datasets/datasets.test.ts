import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { parquetMetadata } from 'hyparquet'
import { DAY_MS } from '../../../src/protocol/moment.ts'
import { type ApiStage, openApiStage } from '../../stage/api-stage.ts'
import { csvRows } from '../csv-rows.ts'
import { textOf } from '../../stage/document.ts'

type FieldOfTable = Readonly<{
  name: string
  type: string
  unit?: string
  description: string
  decimals?: number
  constraints?: Readonly<{ required?: boolean; enum?: readonly string[] }>
}>
type FileOfPackage = Readonly<{
  name: string
  path: string
  format: string
  bytes?: number
  hash?: string
  schema?: Readonly<{ primaryKey?: readonly string[]; fields: readonly FieldOfTable[] }>
}>
type Package = Readonly<{
  resources: readonly FileOfPackage[]
  licenses?: readonly Readonly<{ path: string }>[]
  simulated: boolean
}>

const LICENCE = 'https://licence.example/cc-by'
/** Valid text of a cell by the type of its column. */
const LEXICAL: Readonly<Record<string, RegExp>> = {
  integer: /^-?\d+$/,
  boolean: /^(?:true|false)$/,
  datetime: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/,
  yearmonth: /^\d{4}-\d{2}$/,
  string: /^[^]*$/,
}

let stage: ApiStage
let described: Package
before(async () => {
  // An event every half day: the trades end in the second month.
  stage = await openApiStage({ site: { licence: LICENCE, token: 'KOTS' }, apartMs: DAY_MS / 2 })
  stage.trade(60)
  described = (await (await stage.get('/datapackage.json')).json()) as Package
})
after(() => stage[Symbol.asyncDispose]())

const bytesAt = async (url: string): Promise<Uint8Array> => {
  const response = await fetch(url)
  assert.equal(response.status, 200, url)
  return response.bytes()
}

function assertCell(text: string, { name, type, decimals, constraints }: FieldOfTable, of: string): void {
  if (text === '') assert.notEqual(constraints?.required, true, `${of}: ${name} may be empty`)
  else if (type === 'number') assert.match(text, new RegExp(`^-?\\d+\\.\\d{${decimals}}$`), `${of}: ${name}`)
  else assert.match(text, LEXICAL[type] ?? /^$/, `${of}: ${name}`)
  if (text !== '' && constraints?.enum !== undefined)
    assert.ok(constraints.enum.includes(text), `${of}: ${name}`)
}

function assertValue(value: unknown, field: FieldOfTable, of: string): void {
  if (field.type === 'object') assert.equal(typeof value, 'object', of)
  else assertCell(value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value), field, of)
}

suite('/datapackage.json', () => {
  test('is a valid Data Package of version 2', () => {
    const ajv = new Ajv({ strict: false, allErrors: true, formats: { textarea: true } })
    addFormats.default(ajv)
    const validate = ajv.compile(JSON.parse(textOf('test/contract/datasets/datapackage-2.0.json')))
    assert.ok(validate(described), JSON.stringify(validate.errors))
    // The schema can fail.
    assert.equal(validate({ ...described, resources: [] }), false)
  })

  test('names the licence of the operator, and that the platform is simulated', () => {
    assert.deepEqual(described.licenses, [{ path: LICENCE }])
    assert.equal(described.simulated, true)
  })

  test('names every file of the archive and every CSV, each once', async () => {
    const { months } = (await (await stage.get('/api/v1/archive')).json()) as {
      months: { month: string; state: string }[]
    }
    assert.deepEqual(
      months.map(({ state }) => state),
      ['closed', 'open'],
    )
    const files = months.flatMap(({ month, state }) => [
      `events-${month}`,
      `details-${month}`,
      ...(state === 'closed' ? [`parquet-${month}`, `manifest-${month}`] : []),
    ])
    assert.deepEqual(
      described.resources.map(({ name }) => name),
      [
        ...files,
        'sha256sums',
        'events',
        'contests',
        'payouts',
        'waits',
        'flows',
        'funds',
        'patterns',
        'loyalty-runs',
      ],
    )
  })

  test('has the size and the SHA-256 of each file of a closed month', async () => {
    const kept = described.resources.filter(({ hash }) => hash !== undefined)
    assert.deepEqual(
      kept.map(({ name }) => name),
      ['events-2026-10', 'details-2026-10'],
    )
    for (const { path, bytes, hash } of kept) {
      const file = await bytesAt(path)
      assert.equal(file.byteLength, bytes)
      assert.equal(`sha256:${createHash('sha256').update(file).digest('hex')}`, hash)
    }
  })

  test('has the columns of every table in their order, and the type of every value', async () => {
    for (const { name, path, format, schema } of described.resources) {
      if (schema === undefined) continue
      const bytes = await bytesAt(path)
      const names = schema.fields.map((field) => field.name)
      if (format === 'csv') {
        const [head, ...rows] = csvRows(Buffer.from(bytes).toString())
        assert.deepEqual(head, names, name)
        for (const row of rows) {
          for (const [index, field] of schema.fields.entries()) assertCell(row[index] ?? '', field, name)
        }
      } else if (format === 'parquet') {
        const [, ...columns] = parquetMetadata(bytes.slice().buffer).schema
        assert.deepEqual(
          columns.map((column) => column.name),
          names,
        )
      } else {
        for (const line of gunzipSync(bytes).toString().split('\n').slice(0, -1)) {
          const row = JSON.parse(line) as Record<string, unknown>
          assert.deepEqual(Object.keys(row), names, name)
          for (const field of schema.fields) assertValue(row[field.name], field, name)
        }
      }
    }
  })

  test('has the description of every column, and the unit of every amount and price', () => {
    const fields = described.resources.flatMap(({ schema }) => schema?.fields ?? [])
    assert.ok(fields.length > 80)
    for (const { name, description, type, unit, decimals } of fields) {
      assert.notEqual(description, '', name)
      if (type !== 'number') continue
      assert.equal(unit, decimals === 12 ? 'USD for 1 KOTS' : 'KOTS', name)
    }
  })

  test('says of each balance, and of the price, that it is that of the end of its bucket', () => {
    const fieldsOf = (table: string): readonly FieldOfTable[] =>
      described.resources.find(({ name }) => name === table)?.schema?.fields ?? []
    const levels = [
      ...fieldsOf('funds').filter(({ type }) => type === 'number'),
      ...fieldsOf('flows').filter(({ name }) => name === 'tokenPriceUsd'),
    ]
    assert.equal(levels.length, 5)
    for (const { description, unit } of levels) {
      assert.match(description, /at the end of the bucket/)
      assert.notEqual(unit, undefined)
    }
  })

  test('names a key whose values are unique', async () => {
    for (const { path, format, schema } of described.resources) {
      const [key] = schema?.primaryKey ?? []
      if (key === undefined || format !== 'csv') continue
      const [head = [], ...rows] = csvRows(Buffer.from(await bytesAt(path)).toString())
      const values = rows.map((row) => row[head.indexOf(key)])
      assert.equal(new Set(values).size, values.length, path)
    }
  })
})

suite('the description of the files', () => {
  test('is named by the index and the page of the archive and by the page about the site, which carry schema.org Dataset too', async () => {
    const index = await stage.get('/api/v1/archive')
    assert.match(index.headers.get('link') ?? '', /<\/datapackage\.json>; rel="describedby"/)
    for (const path of ['/archive', '/about']) {
      const page = await (await stage.get(path)).text()
      assert.match(page, /<link\s+rel="describedby"[^>]*href="\/datapackage\.json"/)
      assert.match(page, /"@type":"Dataset"/)
    }
    assert.match(await (await stage.get('/robots.txt')).text(), /\/datapackage\.json/)
  })

  test('exists for a log without events', async () => {
    await using empty = await openApiStage({ story: [] })
    const response = await empty.get('/datapackage.json')
    assert.equal(response.status, 200)
    assert.doesNotMatch(await response.text(), /jsonl\.gz"/)
  })
})
