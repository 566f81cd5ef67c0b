import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { auditOf, RICH_LOG, wrongIn } from '../../test/stage/audit-stage.ts'
import { publicLog } from '../../test/story/public-log.ts'
import { randomLogs } from '../../test/story/random-log.ts'
import { MINUTE_MS, msOf } from '../protocol/moment.ts'
import { FIGURE_CHECKS } from './questions/question.ts'
import { isVerified } from './report.ts'

/** The same JSON with one value of it changed: the one that `pick` falls on; and where it stands. */
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

const byName = (a: string, b: string): number => (a < b ? -1 : 1)
const text = (body: Uint8Array | undefined): string => Buffer.from(body ?? []).toString()

suite('an audit of a log that is right', () => {
  test('finds it right, whatever is in it', async () => {
    await fc.assert(
      fc.asyncProperty(randomLogs, fc.nat(99), async (entries, chance) => {
        const found = await auditOf(publicLog(entries), undefined, { chance: () => chance / 100 })
        assert.deepEqual(wrongIn(found), [])
        assert.ok(isVerified(found))
      }),
      { numRuns: 40 },
    )
  })

  test('checks everything, but a history that it does not know', async () => {
    const { checks } = await auditOf(publicLog(RICH_LOG))
    const unchecked = checks.filter(({ is }) => is !== 'right').map(({ name }) => name)
    assert.deepEqual(unchecked, ['consistency'])
  })
})

suite('a figure that is altered on its way', async () => {
  const log = publicLog(RICH_LOG)
  const asked = new Set<string>()
  await auditOf(log, (path, body) => {
    asked.add(path)
    return body
  })
  const answers = [...asked].filter((path) => !/^(?:archive|log|events(?!.*corrections))/.test(path))

  test('could be on any of the endpoints of figures', () => {
    const names = answers.map((path) => path.split('?')[0]?.replaceAll(/\d+/g, 'N') ?? '')
    assert.deepEqual([...new Set(names)].toSorted(byName), [
      'contests',
      'contests/N',
      'contests/N/ledger',
      'events/N/corrections',
      'flows',
      'funds',
      'loyalty/runs',
      'patterns',
      'payouts',
      'schedule',
      'summary',
    ])
  })

  for (const path of answers) {
    test(`is found: ${path.replaceAll(/\d{6,}/g, '…')}`, async () => {
      const honest: unknown = JSON.parse(text(log.body(path)))
      await fc.assert(
        fc.asyncProperty(fc.nat(), async (pick) => {
          const { value, path: field } = altered(honest, pick)
          const found = await auditOf(log, (at, body) =>
            at === path ? Buffer.from(JSON.stringify(value)) : body,
          )
          const places = wrongIn(found)
          assert.notDeepEqual(places, [], `${field} of ${path}`)
          assert.ok(!isVerified(found))
          for (const { name } of found.checks.filter(({ is }) => is === 'wrong')) {
            assert.ok(
              FIGURE_CHECKS.some((check) => check === name) || name === 'consistency',
              `${name}: ${places.join()}`,
            )
          }
        }),
        { numRuns: 6 },
      )
    })
  }

  test('is named by its endpoint and field, and its value is not repeated', async () => {
    const found = await auditOf(log, (path, body) =>
      path === 'summary'
        ? Buffer.from(text(body).replace(/"treasury":"[^"]*"/, '"treasury":"123456.000000000"'))
        : body,
    )
    assert.deepEqual(wrongIn(found), ['summary | summary: treasury is not what the log says'])
  })

  test('is found where a field is left out or added', async () => {
    const left = await auditOf(log, (path, body) =>
      path === 'schedule' ? Buffer.from(text(body).replace(/"opens":\[.*\],"closes"/, '"closes"')) : body,
    )
    assert.deepEqual(wrongIn(left), ['schedule | schedule: opens is not what the log says'])
    const added = await auditOf(log, (path, body) =>
      path === 'schedule' ? Buffer.from(text(body).replace('{', '{"secret-name":1,')) : body,
    )
    assert.deepEqual(wrongIn(added), [
      'schedule | schedule: a field that is not known is not what the log says',
    ])
  })

  test('is found where it counts from another present than the clock here', async () => {
    const found = await auditOf(log, undefined, { now: () => msOf(log.now + 11 * MINUTE_MS) })
    assert.match(wrongIn(found).join(), /^unpaid prizes \| payouts: its `now` is more than ten minutes from/)
  })

  test('is found where an endpoint is gone, or answers no JSON', async () => {
    const gone = await auditOf(log, (path, body) => (path === 'payouts' ? undefined : body))
    assert.deepEqual(wrongIn(gone), ['unpaid prizes | payouts: is not there'])
    const broken = await auditOf(log, (path, body) => (path === 'payouts' ? Buffer.from('<html>') : body))
    assert.deepEqual(wrongIn(broken), ['unpaid prizes | payouts: is no JSON'])
  })
})
