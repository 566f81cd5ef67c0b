import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { ENDPOINTS } from '../../src/protocol/endpoints/endpoints.ts'
import { asyncapi } from '../../src/serve/describe/asyncapi.ts'
import { type Example, EXAMPLES, openapi } from '../../src/serve/describe/openapi.ts'
import { fetchExample, withoutVariable, writeExamples } from '../stage/captured.ts'
import { fetchDescribed } from '../stage/described.ts'
import { sharedSample } from '../sample/imported-node.ts'
import { ROOT } from '../stage/places.ts'

const LINTER = join(ROOT, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js')
/** Endpoints whose answers are bytes or descriptions. */
const WITHOUT_EXAMPLE = new Set(['logTile', 'logEntries', 'openapi', 'asyncapi', 'eventTypes'])
const JSON_TYPE = 'application/json'
const OPENAPI_BYTES_MAX = 200 * 1024
/** The linter wants a licence, which is the operator's. */
const LICENSED = { version: '0.0.0', licence: 'https://example.org/licence' }
const UPDATES = process.env['UPDATE_EXAMPLES'] === '1'

const run = promisify(execFile)
const require = createRequire(import.meta.url)

suite('a description', () => {
  let base = ''
  let folder = ''
  before(async () => {
    base = (await sharedSample()).url
    folder = await mkdtemp(join(tmpdir(), 'daybook-descriptions-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))
  const textOf = async (path: string): Promise<string> => (await fetch(`${base}${path}`)).text()

  /** Findings of the linter in a document, under its strictest rules except for those named. */
  async function problemsOf(document: object, without: readonly string[]): Promise<readonly unknown[]> {
    const file = join(folder, 'document.json')
    await writeFile(file, JSON.stringify(document))
    const skipped = without.flatMap((rule) => ['--skip-rule', rule])
    const words = ['lint', '--extends', 'recommended-strict', '--format', 'json', ...skipped, file]
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const { stdout } = await run(process.execPath, [LINTER, ...words], { cwd: folder, env }).catch(
      (failed: { stdout: string }) => failed,
    )
    return (JSON.parse(stdout) as { problems: readonly unknown[] }).problems
  }

  test('of the API is an OpenAPI document that passes a linter, with its examples', async () => {
    // The linter ignores extensions, in which the parts of a stream are described.
    assert.deepEqual(await problemsOf(openapi(LICENSED), ['no-unused-components']), [])
  })

  test('of the API is less than 200 KiB long', async () => {
    const { length } = await textOf('/api/v1/openapi.json')
    assert.ok(length < OPENAPI_BYTES_MAX, `${length} bytes`)
  })

  test('of the stream is an AsyncAPI document that passes a linter', async () => {
    // In AsyncAPI the linter cannot distinguish "no key needed" from a missing statement about keys.
    assert.deepEqual(await problemsOf(asyncapi(LICENSED), ['security-defined']), [])
  })

  test('of the stream passes the parser of the AsyncAPI project', async () => {
    const ajv = new Ajv({ strict: false, allErrors: true })
    addFormats.default(ajv)
    const { schemasWithoutId } = require('@asyncapi/specs') as {
      schemasWithoutId: Record<string, { definitions: object }>
    }
    const validate = ajv.compile(schemasWithoutId['3.0.0'] ?? assert.fail('the schema of 3.0.0'))
    const document = JSON.parse(await textOf('/api/v1/asyncapi.json')) as { channels: Record<string, object> }
    assert.ok(validate(document), ajv.errorsText(validate.errors))
    assert.ok(!validate({ ...document, channels: { events: { adress: '/api/v1/stream' } } }), 'it looks')
  })

  test('says that the data is informational only', async () => {
    for (const path of ['/api/v1/openapi.json', '/api/v1/asyncapi.json']) {
      assert.match(await textOf(path), /informational only: it is not advice, a forecast or an offer/)
    }
  })
})

suite('/llms.txt', () => {
  let base = ''
  before(async () => {
    base = (await sharedSample()).url
  })

  test('is plain text that names every endpoint with its parameters, and the terms', async () => {
    const response = await fetch(`${base}/llms.txt`)
    const text = await response.text()
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.match(text, /^# Daybook\n\n> .*informational only: it is not advice, a forecast or an offer/)
    const [, listed = ''] = text.split('## Endpoints')
    for (const { path, meaning, parameters } of ENDPOINTS) {
      const line = listed
        .split('\n')
        .find((each) => each.includes(`\`${path}\``) || each.includes(`(${path})`))
      assert.ok(line !== undefined && line.includes(meaning), path)
      for (const { name } of parameters) assert.match(line, new RegExp(`\\b${name}\\b`, 'u'))
    }
  })

  test('has no broken link, and names only addresses of the API that exist', async () => {
    const text = await (await fetch(`${base}/llms.txt`)).text()
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
    assert.ok(links.length > 15)
    for (const link of links) {
      const response = await fetchDescribed(`${base}${link}`, { method: 'HEAD' })
      assert.equal(response.status, 200, link)
    }
    const named = [...text.matchAll(/\/api\/v1[^\s`)\]?:]*/g)].map(([path]) => path.replace(/[.,]$/, ''))
    const known = new Set(ENDPOINTS.map(({ path }) => path))
    assert.deepEqual(
      named.filter((path) => !known.has(path)),
      [],
    )
  })
})

suite('an example of the OpenAPI document', () => {
  let base = ''
  const anew: Example[] = []
  before(async () => {
    base = (await sharedSample()).url
  })
  after(() => {
    if (UPDATES) writeExamples(anew)
  })

  const isShown = (id: string): boolean => EXAMPLES.some((example) => example.of === id)
  const lacking = ENDPOINTS.filter(({ id }) => !WITHOUT_EXAMPLE.has(id) && !isShown(id))
  const added = lacking.map(({ id, path }) => ({ of: id, request: path, type: JSON_TYPE, value: null }))

  for (const example of UPDATES ? [...EXAMPLES, ...added] : EXAMPLES) {
    test(`is what ${example.request} answers as ${example.type}`, async () => {
      const value = await fetchExample(base, example)
      anew.push({ ...example, value })
      if (!UPDATES) assert.deepEqual(withoutVariable(value), withoutVariable(example.value))
    })
  }

  test('exists for every readable answer, and for a problem', () => {
    if (UPDATES) return
    assert.deepEqual(
      lacking.map(({ id }) => id),
      [],
    )
    assert.ok(isShown('problem'))
  })
})
