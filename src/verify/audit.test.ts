import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { auditOf, RICH_LOG, findingLines } from '../../test/stage/audit-stage.ts'
import { publicLog } from '../../test/story/public-log.ts'
import { randomLogs } from '../../test/story/random-log.ts'
import { type Endpoint, ENDPOINTS } from '../protocol/endpoints/endpoints.ts'
import { MINUTE_MS, msOf } from '../protocol/moment.ts'
import { FIGURE_CHECKS } from './figures/published-answer.ts'
import { isVerified } from './report.ts'

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 10)
/** Fields of each answer that are changed, one at a time. */
const FIELDS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 1)

/** The same JSON with one value changed, which `pick` selects, and the path of the value. */
function altered(json: unknown, pick: number): Readonly<{ value: unknown; path: string }> {
  const paths: (readonly string[])[] = []
  const walk = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) paths.push(path)
    else for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name])
  }
  walk(json, [])
  const path = paths[pick % paths.length] ?? []
  const copy = structuredClone(json)
  let holder = copy as Record<string, unknown>
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string, unknown>
  const last = path.at(-1) ?? ''
  holder[last] = otherThan(holder[last])
  return { value: copy, path: path.join('.') }
}

function otherThan(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return 1
  const digit = value.search(/\d(?=\D*$)/)
  return digit < 0
    ? `${value}x`
    : value.slice(0, digit) + ((Number(value[digit]) + 1) % 10) + value.slice(digit + 1)
}

const text = (body: Uint8Array | undefined): string => Buffer.from(body ?? []).toString()

suite('an audit of a correct log', () => {
  test('finds nothing wrong in any random log', async () => {
    await fc.assert(
      fc.asyncProperty(randomLogs, fc.nat(99), async (entries, chance) => {
        const found = await auditOf(publicLog(entries), undefined, { chance: () => chance / 100 })
        assert.deepEqual(findingLines(found), [])
        assert.ok(isVerified(found))
      }),
      { numRuns: RUNS },
    )
  })

  test('checks everything except the history, without saved checkpoints', async () => {
    const { checks } = await auditOf(publicLog(RICH_LOG))
    const unchecked = checks.filter(({ is }) => is !== 'right').map(({ name }) => name)
    assert.deepEqual(unchecked, ['consistency'])
  })
})

/** Whether an address below `/api/v1/` is one of an endpoint's. */
function isAt({ path: template }: Endpoint, path: string): boolean {
  const form = template.replace('/api/v1/', '').replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${form}$`).test(path.split('?')[0] ?? '')
}

/** Answers from which verify chooses its questions. It believes nothing in them. */
const CHOOSING = /^events\?(?:limit=1$|type=(?:correction|prize)&order)/

const RECOMPUTED = ENDPOINTS.filter(({ check }) => check === 'recomputed')

suite('an audit holds every endpoint to its row in the table', async () => {
  const log = publicLog(RICH_LOG)
  const asked = new Map<string, Uint8Array>()
  await auditOf(log, (path, body) => {
    if (body !== undefined && !CHOOSING.test(path)) asked.set(path, body)
    return body
  })

  for (const endpoint of ENDPOINTS.filter(({ check }) => check === 'recomputed' || check === 'compared')) {
    test(`and finds a changed answer of ${endpoint.path}`, async () => {
      const addresses = [...asked].filter(([path]) => isAt(endpoint, path))
      assert.notDeepEqual(addresses, [], 'it is asked')
      const missed: string[] = []
      for (const [address, honest] of addresses) {
        const changed = Buffer.from(honest)
        // The changed place is the middle of a gzip file or a signed text, and the last digit of a figure in JSON: `page`
        // has none.
        const [figures = ''] = text(honest).split('"page":')
        const at = endpoint.answer.includes('/') ? changed.length >> 1 : figures.search(/\d(?=\D*$)/)
        changed.writeUInt8((changed[at] ?? 0) ^ 1, at)
        const found = await auditOf(log, (path, body) => (path === address ? changed : body))
        if (isVerified(found)) missed.push(address)
      }
      assert.deepEqual(missed, [])
    })
  }

  test('and leaves out only those that hold no fact of the log, or the same facts in another form', () => {
    // A new endpoint with figures belongs into `ANSWERS`, not into this list.
    assert.deepEqual(
      ENDPOINTS.filter(({ check }) => typeof check === 'object').map(({ id }) => id),
      [
        'scheduleCalendar',
        'eventDetails',
        'logWitnessedCheckpoint',
        'logTile',
        'logEntries',
        'logKeys',
        'logWitnesses',
        'stream',
        'eventTypes',
        'eventType',
        'openapi',
        'asyncapi',
        'status',
      ],
    )
  })
})

suite('a changed figure', async () => {
  const log = publicLog(RICH_LOG)
  const asked = new Set<string>()
  await auditOf(log, (path, body) => {
    asked.add(path)
    return body
  })
  const answers = [...asked].filter((path) => RECOMPUTED.some((endpoint) => isAt(endpoint, path)))

  test('is found in every answer that verify recomputes, in a field at random', async () => {
    assert.ok(answers.length > 40, `${answers.length} answers`)
    for (const path of answers) {
      const honest = text(log.body(path))
      await fc.assert(
        fc.asyncProperty(fc.nat(), async (pick) => {
          const { value, path: field } = altered(JSON.parse(honest), pick)
          const found = await auditOf(log, (at, body) =>
            at === path ? Buffer.from(JSON.stringify(value)) : body,
          )
          const places = findingLines(found)
          assert.notDeepEqual(places, [], `${field} of ${path}`)
          assert.ok(!isVerified(found))
          for (const { name } of found.checks.filter(({ is }) => is === 'wrong')) {
            assert.ok(
              FIGURE_CHECKS.some((check) => check === name) || name === 'consistency',
              `${name}: ${places.join()}`,
            )
          }
        }),
        { numRuns: FIELDS },
      )
    }
  })

  test('is named by its endpoint and field, without its value', async () => {
    const found = await auditOf(log, (path, body) =>
      path === 'summary'
        ? Buffer.from(text(body).replace(/"treasury":"[^"]*"/, '"treasury":"123456.000000000"'))
        : body,
    )
    assert.deepEqual(findingLines(found), ['summary | summary: treasury is not what the log says'])
  })

  test('is found when a field is removed or added', async () => {
    const left = await auditOf(log, (path, body) =>
      path === 'schedule' ? Buffer.from(text(body).replace(/"opens":\[.*\],"closes"/, '"closes"')) : body,
    )
    assert.deepEqual(findingLines(left), ['schedule | schedule: opens is not what the log says'])
    const added = await auditOf(log, (path, body) =>
      path === 'schedule' ? Buffer.from(text(body).replace('{', '{"secret-name":1,')) : body,
    )
    assert.deepEqual(findingLines(added), ['schedule | schedule: an unknown field is not what the log says'])
  })

  test('is found when its present differs from the local clock', async () => {
    const found = await auditOf(log, undefined, { now: () => msOf(log.now + 11 * MINUTE_MS) })
    assert.match(
      findingLines(found).join(),
      /^unpaid prizes \| payouts: its `now` is more than ten minutes from/,
    )
  })

  test('is found when an endpoint is missing or its answer is not JSON', async () => {
    const gone = await auditOf(log, (path, body) => (path === 'payouts' ? undefined : body))
    assert.deepEqual(findingLines(gone), ['unpaid prizes | payouts: is missing'])
    const broken = await auditOf(log, (path, body) => (path === 'payouts' ? Buffer.from('<html>') : body))
    assert.deepEqual(findingLines(broken), ['unpaid prizes | payouts: is not JSON'])
  })
})
