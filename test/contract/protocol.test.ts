import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { ENDPOINTS } from '../../src/protocol/endpoints/endpoints.ts'
import * as drafts from '../../src/protocol/draft.ts'
import * as bounds from '../../src/protocol/parameters.ts'
import { PROBLEMS } from '../../src/protocol/problem.ts'
import { EVENT_TYPES, RULES } from '../../src/protocol/rules.ts'
import { STREAM_LIMITS } from '../../src/serve/stream/limits.ts'
import { CONNECTIONS_PER_CALLER, STREAMS_PER_CALLER } from '../../src/serve/allowance/caller-slots.ts'
import { REQUESTS_PER_CONNECTION_MAX } from '../../src/serve/fairness/request-queues.ts'
import type { Example } from '../../src/serve/describe/openapi.ts'
import { fetchExample, withoutVariable } from '../stage/captured.ts'
import { fetchDescribed } from '../stage/described.ts'
import { type Block, blocksOf, formatJson, textOf } from '../stage/document.ts'
import { sharedSample, startImportedNode } from '../sample/imported-node.ts'
import { ROOT, SAMPLE } from '../stage/places.ts'

const WIDTH = 116
/** Rewrites the examples, after an intended change of the format. */
const UPDATES = process.env['UPDATE_EXAMPLES'] === '1'

const protocol = textOf('PROTOCOL.md')
const publishing = textOf('docs/publishing.md')
const rows = protocol.split('\n').filter((line) => line.startsWith('|'))

/** The rows of tables whose first cell names `name`. */
function rowsOf(name: string): readonly string[] {
  return rows.filter((row) => (row.split('|')[1] ?? '').includes(`\`${name}\``))
}

suite('the protocol names', () => {
  for (const { path, parameters } of ENDPOINTS) {
    test(`${path} with its parameters and no other`, () => {
      const [row] = rowsOf(path)
      assert.ok(row !== undefined, 'the endpoint has a row')
      const named = new Set([...(row.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name))
      assert.deepEqual(named, new Set(parameters.map(({ name }) => name)))
    })
  }

  test('no endpoint that does not exist', () => {
    const named = rows.flatMap((row) => /^\| `(\/api\/v1[^`]*)`/.exec(row)?.[1] ?? [])
    assert.deepEqual(new Set(named), new Set(ENDPOINTS.map(({ path }) => path)))
    assert.equal(named.length, ENDPOINTS.length)
  })

  for (const [code, { status }] of Object.entries(PROBLEMS)) {
    test(`the problem ${code} with its status`, () => {
      const found = rows.filter((row) => /^\| \d{3} \|/.test(row) && row.includes(`\`${code}\``))
      assert.deepEqual(
        found.map((row) => row.split('|')[1]?.trim()),
        [String(status)],
      )
    })
  }

  test('every limit with its value in the code', () => {
    const kib = 1024
    const told: readonly (readonly [row: RegExp, limit: number])[] = [
      [/^\| Requests of one address .*$/m, bounds.ALLOWANCE_REQUESTS],
      [/^\| Streams of one address .*$/m, STREAMS_PER_CALLER],
      [/^\| Connections of one address .*$/m, CONNECTIONS_PER_CALLER],
      [/^\| Requests of one connection .*$/m, REQUESTS_PER_CONNECTION_MAX],
      [/^\| Rows of a page .*$/m, bounds.ROWS_MAX],
      [/^\| Contests of a list that .*$/m, bounds.TOP_ROWS_MAX],
      [/^\| Contests that a search .*$/m, bounds.SEARCH_EXAMINED_MAX],
      [/^\| Characters of `q`.*$/m, bounds.SEARCH_CHARS_MAX],
      [/^\| Entries that a page .*$/m, bounds.EXAMINED_MAX],
      [/^\| Entries of a calendar .*$/m, bounds.CALENDAR_ENTRIES_MAX],
      [/^\| Buckets of an answer .*$/m, bounds.BUCKETS_MAX],
      [/^\| Amounts by kind .*$/m, bounds.KIND_AMOUNTS_MAX],
      [/^\| Days of .*$/m, bounds.PATTERN_DAYS_MAX],
      [/^\| Contests of `\/waits`.*$/m, bounds.WAIT_CONTESTS_MAX],
      [/^\| Characters of an address.*$/m, bounds.TARGET_CHARS_MAX],
      [/scanned without a match/, STREAM_LIMITS.scanEventsMax],
      [/takes nothing for \d+ s is cut off/, STREAM_LIMITS.stallMs / 1000],
      [/after \d+ s of silence/, STREAM_LIMITS.heartbeatMs / 1000],
      [/from 3,000 to 8,000 ms/, STREAM_LIMITS.retryMsMin],
      [/from 3,000 to 8,000 ms/, STREAM_LIMITS.retryMsMax],
      [/at most 10,000 and 16 MiB/, drafts.DRAFTS_MAX],
      [/at most 10,000 and 16 MiB/, drafts.PUBLISH_BYTES_MAX / kib / kib],
      [/1 to \d+ characters, private/, drafts.REF_CHARS_MAX],
      [/`title` \d+ characters/, drafts.TITLE_CHARS_MAX],
      [/`reason` \d+/, drafts.REASON_CHARS_MAX],
      [/`url` [\d,]+/, drafts.URL_CHARS_MAX],
      [/a draft \d+ KiB/, drafts.DRAFT_LINE_BYTES_MAX / kib],
    ]
    const contract = `${protocol}\n${publishing}`
    for (const [place, limit] of told) {
      // The document may break a line at any space.
      const found = new RegExp(place.source.replaceAll(' ', '\\s+'), place.flags).exec(contract)
      assert.ok(found !== null, String(place))
      const around = contract.slice(Math.max(0, found.index - 80), found.index + found[0].length + 20)
      assert.match(
        around,
        new RegExp(`(?<![\\d,])${limit.toLocaleString('en')}(?![\\d,]\\d)`, 'u'),
        String(place),
      )
    }
  })

  test('every type and fixed kind of an event', () => {
    for (const { type, kind } of RULES) {
      if (type !== 'correction') assert.ok(rowsOf(`${type}/${kind}`).length > 0, `${type}/${kind}`)
    }
    for (const type of EVENT_TYPES) assert.ok(protocol.includes(`\`${type}/`), type)
  })
})

const REQUEST = /^`GET (\S+)`$/
const blocks = blocksOf(protocol)
const examples = blocks.filter(({ before: line }) => REQUEST.test(line))
const targetOf = ({ before: line }: Block): string => REQUEST.exec(line)?.[1] ?? ''

/** Fields that change with each request or build: the log's id, the version, and the present. */
const CHANGING = new Set(['log', 'logId', 'version', 'now', 'ageMs'])

/** Asserts that an answer has the keys of the example in the same order, and equal values. Lists may be longer. */
function assertLike(example: unknown, answer: unknown, place: string): void {
  if (Array.isArray(example)) {
    assert.ok(Array.isArray(answer) && answer.length >= example.length, `${place} is a list`)
    for (const [index, each] of example.entries()) assertLike(each, answer[index], `${place}[${index}]`)
  } else if (Object(example) === example) {
    assert.deepEqual(Object.keys(Object(answer)), Object.keys(Object(example)), `the keys of ${place}`)
    for (const [key, each] of Object.entries(Object(example))) {
      if (!CHANGING.has(key)) assertLike(each, Reflect.get(Object(answer), key), `${place}.${key}`)
    }
  } else {
    assert.equal(answer, example, place)
  }
}

/** The answer with every list cut to its first element, as in an example. */
function shortened(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.slice(0, 1).map(shortened)
  if (Object(answer) !== answer) return answer
  return Object.fromEntries(Object.entries(Object(answer)).map(([key, each]) => [key, shortened(each)]))
}

suite('an example of the protocol', () => {
  let base = ''
  const answers = new Map<string, string>()
  before(async () => {
    base = (await sharedSample()).url
  })
  after(() => {
    if (UPDATES) writeFileSync(join(ROOT, 'PROTOCOL.md'), updated(answers))
  })

  for (const example of examples) {
    const target = targetOf(example)
    test(`is what ${target} answers`, async () => {
      const isStream = target.startsWith('/api/v1/stream')
      const asked: Example = { of: '', request: target, type: 'text/event-stream', value: null }
      const answer = isStream
        ? String(await fetchExample(base, asked))
        : await (await fetchDescribed(`${base}${target}`)).text()
      answers.set(target, answer)
      if (UPDATES) return
      if (example.language === 'json') assertLike(JSON.parse(example.text), JSON.parse(answer), 'the answer')
      else
        assert.equal(
          withoutVariable(answer.replaceAll('\r\n', '\n').trimEnd()),
          withoutVariable(example.text),
        )
    })
  }

  test('exists for every JSON answer except for one contest, the catalogue and the descriptions', () => {
    const shown = examples.map((example) => targetOf(example).split('?')[0] ?? '')
    for (const { id, path, answer } of ENDPOINTS) {
      if (answer.includes('/') || ['contest', 'eventTypes', 'openapi', 'asyncapi'].includes(id)) continue
      const form = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`, 'u')
      assert.ok(
        shown.some((each) => form.test(each)),
        path,
      )
    }
  })

  test('is every block of the document', () => {
    const ways = [REQUEST]
    const idle = blocks.filter(({ before: line }) => !ways.some((way) => way.test(line)))
    assert.deepEqual(
      idle.map(({ line }) => line),
      [],
    )
  })

  test('of a draft is published, and gets the shown answer every time it is sent', async () => {
    const own = blocksOf(publishing)
    const at = own.findIndex(({ before: line }) => line === '`POST /publish`')
    const [draft, answer] = [own[at]?.text ?? '', own[at + 1]?.text ?? '']
    await using service = await startImportedNode({ drafts: SAMPLE })
    for (const status of ['published', 'duplicate']) {
      const response = await fetch(`${service.publishUrl}/publish`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/x-ndjson' },
        body: draft,
      })
      assert.equal(await response.text(), answer.replace('published', status))
    }
  })
})

function updated(answers: ReadonlyMap<string, string>): string {
  const form = /(`GET (\S+)`\n\n```(json|text)\n)[^]*?(?:\n)?(```)/g
  return protocol.replaceAll(form, (_, head: string, target: string, language: string, end: string) => {
    const answer = answers.get(target) ?? ''
    const text =
      language === 'json'
        ? formatJson(shortened(JSON.parse(answer)), WIDTH)
        : answer.replaceAll('\r\n', '\n').trimEnd()
    return `${head}${text}\n${end}`
  })
}
