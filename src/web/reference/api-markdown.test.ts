import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { type Block, blocksOf } from '../../../test/stage/document.ts'
import { plain } from '../../../test/web/parity/page-tree.ts'
import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { openapi } from '../../serve/describe/openapi.ts'
import { PUBLIC_PROBLEMS } from '../../serve/describe/endpoint-problems.ts'
import { type ApiDocument, endpointsOf } from './api-document.ts'
import { fieldsOf, fieldTable, mediaDescriptions, sharedIn } from './api-fields.ts'

const BYTES_MAX = 96 * 1024

const document: ApiDocument = JSON.parse(JSON.stringify(openapi({ version: '0.0.1', licence: null })))

let stage: ApiStage
let text: string
before(async () => {
  stage = await openApiStage()
  text = await markdownOf(stage)
})
after(() => stage[Symbol.asyncDispose]())

async function markdownOf(of: ApiStage): Promise<string> {
  return (await of.get('/api.md')).text()
}

/** Text of the reference below a heading, up to the next. */
function under(heading: string, of = text): string {
  const [, rest] = of.split(`\n${heading}\n`)
  assert.ok(rest !== undefined, heading)
  return rest.split(/^#{2,3} /m, 1)[0] ?? ''
}

const headingOf = (path: string): string => `### GET ${path.replace('...}', '}')}`

/** Cells of each row of each table. Unescaped bars separate them. */
function tablesIn(of: string): readonly (readonly (readonly string[])[])[] {
  const found = of.matchAll(/(?:^\|.*\|$\n?)+/gm)
  return [...found].map(([rows]) =>
    rows
      .trim()
      .split('\n')
      .map((row) =>
        row
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
  )
}

/** Asserts that each table has a head, a line below it, and rows of equal length. */
function assertWellFormed(of: string, tables: number): void {
  const found = tablesIn(of)
  assert.equal(found.length, tables)
  for (const [head = [], border = [], ...rows] of found) {
    assert.ok(head.length > 2 && head.every((name) => /^[A-Z][a-z ]+$/.test(name)), head.join())
    assert.deepEqual(
      border,
      head.map(() => '---'),
    )
    assert.ok(rows.length > 0, head.join())
    for (const row of rows) {
      assert.equal(row.length, head.length, row.join(' | '))
      assert.ok(
        row.every((cell) => cell !== ''),
        row.join(' | '),
      )
    }
  }
  assert.equal([...of.matchAll(/^\s*\|/gm)].length, found.flat().length, 'no bar begins another line')
}

/** Expected tables: parameters, fields, and problems. */
const TABLES =
  endpointsOf(document).filter(({ parameters }) => parameters.length > 0).length +
  endpointsOf(document)
    .flatMap((one) => mediaDescriptions(one, document))
    .filter(({ fields }) => fields.length > 0).length +
  sharedIn(document).length +
  2

suite('the reference as Markdown', () => {
  test('is Markdown that is cached with revalidation', async () => {
    const response = await stage.get('/api.md')
    assert.equal(response.headers.get('content-type'), 'text/markdown; charset=utf-8')
    assert.equal(response.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
    const etag = response.headers.get('etag') ?? assert.fail('an ETag')
    assert.equal((await stage.get('/api.md', { 'If-None-Match': etag })).status, 304)
    const head = await stage.get('/api.md', {}, 'HEAD')
    assert.equal(head.headers.get('etag'), etag)
    assert.equal((await stage.get('/api.md?endpoint=flows')).status, 400)
  })

  test('has every endpoint with its answer, problems, caching and cost', () => {
    for (const { operationId, path, summary, description } of endpointsOf(document)) {
      const section = under(`### GET ${path}`)
      for (const told of [summary, description]) assert.ok(section.includes(`\n${told}`), operationId)
    }
    assert.equal(text.split('\n### GET ').length - 1, ENDPOINTS.length)
  })

  test('has every parameter of the table with its default, example and meaning', () => {
    for (const { id, path, parameters } of ENDPOINTS) {
      const rows = tablesIn(under(headingOf(path))).flat()
      for (const { name, absent, meaning, example } of parameters) {
        const [, , byDefault, , shown, means] = rows.find(([first]) => first === `\`${name}\``) ?? []
        assert.deepEqual([byDefault, shown, means], [absent, `\`${example}\``, meaning], `${id} ${name}`)
      }
    }
    assert.match(
      under('### GET /api/v1/events'),
      /^\| `limit` \| whole number \| 1000; with format=csv everything that matches \| 1 to 10000 \|/m,
    )
  })

  test('has every field of every answer with its type, unit and meaning', () => {
    const hold = (section: string, name: string, fields: ReturnType<typeof fieldsOf>): void => {
      const told = tablesIn(section)
        .filter(([head]) => head?.[0] === 'Field')
        .flat()
        .map((row) => row.join(' | '))
      for (const row of fieldTable(fields, 'KOTS').rows) {
        const shown = row.join(' | ').replaceAll(/\[(\w+)\]\(#[\w-]+\)/g, '$1')
        assert.ok(told.includes(shown), `${name}: ${shown}`)
      }
    }
    for (const endpoint of endpointsOf(document)) {
      for (const { type, fields } of mediaDescriptions(endpoint, document)) {
        const section = under(`### GET ${endpoint.path}`)
        assert.match(section, new RegExp(`^Answers \`${type.replaceAll('+', String.raw`\+`)}\``, 'm'))
        hold(section, endpoint.operationId, fields)
      }
    }
    for (const name of sharedIn(document)) hold(under(`### ${name}`), name, fieldsOf(name, document))
    hold(under('### The document'), 'Problem', fieldsOf('Problem', document))
    assert.match(
      under('### GET /api/v1/status'),
      /^\| `head.ageMs` \| whole number or null \| milliseconds \|/m,
    )
  })

  test('has every problem of the public API', () => {
    const codes = tablesIn(under('## Problems'))
      .flat()
      .map(([code]) => code)
    for (const code of PUBLIC_PROBLEMS) assert.ok(codes.includes(`\`${code}\``), code)
  })

  test('has the same curl requests as the page', async () => {
    const page = await (await stage.get('/api')).text()
    const shown = [...page.matchAll(/<p>curl <button[^>]* data-copy="([^"]*)"/g)].map(([, one = '']) =>
      plain(one),
    )
    assert.equal(shown.length, ENDPOINTS.length)
    const own = blocksOf(text)
    assert.ok(own.every(({ language }: Block) => language === 'sh'))
    assert.deepEqual(own.map((block) => block.text).toSorted(), shown.toSorted())
  })

  test('has only tables whose rows have all cells', () => {
    assertWellFormed(text, TABLES)
  })

  test('escapes the name of the site and of its token', async () => {
    const site = { name: '*A* | <b>`', token: 'K|T_S\\' }
    await using other = await openApiStage({ site })
    const written = await markdownOf(other)
    assertWellFormed(written, TABLES)
    assert.ok(written.startsWith('# The API of \\*A\\* \\| \\<b\\>\\`\n'))
    assert.ok(written.includes('| `burned` | amount | K\\|T\\_S\\\\ |'))
  })

  test('has the disclaimer, and whether the platform is simulated', () => {
    assert.match(text, /informational only: it is not advice, a forecast or an offer/)
    assert.match(text, /This platform is simulated\. No real money is involved/)
  })

  test('has a size that does not depend on the log', async () => {
    assert.ok(Buffer.byteLength(text) < BYTES_MAX, `${Buffer.byteLength(text)} bytes`)
    await using other = await openApiStage()
    other.trade(2_000)
    const more = await markdownOf(other)
    assert.match(more, /log\/tile\/0\/000'/, 'it asks about what is there')
    assert.ok(more.length < text.length + 100)
  })

  test('has example requests about new events, and about the sample while the log is empty', async () => {
    await using empty = await openApiStage({ story: [] })
    const early = await empty.get('/api.md')
    assertWellFormed(await early.text(), TABLES)
    empty.trade(1)
    const late = await empty.get('/api.md')
    assert.notEqual(late.headers.get('etag'), early.headers.get('etag'))
    assert.match(under('### GET /api/v1/events/{seq}', await late.text()), /\/api\/v1\/events\/1'/)
  })

  test('is linked from the page, for people and programs', async () => {
    const page = await (await stage.get('/api')).text()
    assert.match(page, /<link rel="alternate" type="text\/markdown" href="\/api\.md" \/>/)
    assert.match(page, /<a href="\/api\.md"[^>]*>this page as Markdown<\/a>/)
    assert.match(await (await stage.get('/llms.txt')).text(), /\]\(\/api\.md\)/)
  })

  test('answers a problem while the log is not ready', async () => {
    await using other = await openApiStage()
    other.setUnready({ code: 'not-ready', detail: 'Not yet.' })
    const answer = await other.get('/api.md')
    assert.equal(answer.status, 503)
    assert.equal(answer.headers.get('content-type'), 'application/problem+json')
  })
})
