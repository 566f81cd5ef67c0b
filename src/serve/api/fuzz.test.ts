import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { ApiStage } from '../../../test/stage/api-stage.ts'
import { openApiStage } from '../../../test/stage/api-stage.ts'
import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import type { ParameterForm } from '../../protocol/parameters.ts'
import { LIST_VALUES_MAX } from '../../protocol/parameters.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import { resourceSchema } from '../describe/resource-schemas.ts'

const ELSEWHERE = /^(?:stream|archive|log)/
/** Part of every hostile value, so that an answer that echoes it is found. */
const MARK = 'q7-Zx'

const times = fc.oneof(
  fc
    .date({ min: new Date('2026-09-20'), max: new Date('2026-10-04'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.integer({ min: Date.UTC(2026, 8, 30), max: Date.UTC(2026, 9, 3) }).map(String),
)

const joined = (values: readonly string[]): string => values.join(',')

function valid(form: ParameterForm): fc.Arbitrary<string> {
  switch (form.is) {
    case 'time':
      return times
    case 'integer':
      return fc
        .oneof(
          fc.integer({ min: Math.max(form.min, -20), max: Math.min(form.max, 20) }),
          fc.constantFrom(form.min, form.max),
        )
        .map(String)
    case 'word':
      return fc.stringMatching(/^[a-z][a-z0-9_]{0,31}$/)
    case 'text':
      return fc.string({ maxLength: form.charsMax })
    case 'flag':
      return fc.constant('1')
    case 'tx':
      return fc.stringMatching(/^[A-Za-z0-9:_-]{8,128}$/)
    case 'one-of':
      return fc.constantFrom(...form.values)
    case 'list-of':
      return fc.subarray([...form.values], { minLength: 1 }).map(joined)
    case 'words':
      return fc.array(valid({ is: 'word' }), { minLength: 1, maxLength: LIST_VALUES_MAX }).map(joined)
    case 'integers':
      return fc
        .array(valid({ ...form, is: 'integer' }), { minLength: 1, maxLength: LIST_VALUES_MAX })
        .map(joined)
  }
}

const hostile = fc.oneof(
  fc.constantFrom(
    '',
    '0x10',
    '1e3',
    ' 1',
    '9007199254740993',
    '2026-02-30',
    '__proto__',
    'null',
    'NaN',
    '-0',
  ),
  fc.string({ unit: 'grapheme' }).map((text) => `${MARK}${text}`),
)

const questions = fc.constantFrom(...ENDPOINTS.filter(({ id }) => !ELSEWHERE.test(id))).chain((endpoint) => {
  const rows = endpoint.parameters
  const pairs =
    rows.length === 0
      ? fc.constant([])
      : fc.array(
          fc
            .constantFrom(...rows)
            .chain(({ name, form }) =>
              fc
                .oneof({ weight: 6, arbitrary: valid(form) }, { weight: 1, arbitrary: hostile })
                .map((text) => [name, text] as const),
            ),
          { maxLength: 4 },
        )
  const strangers = fc.array(
    hostile.map((name) => [name, '1'] as const),
    { maxLength: 1 },
  )
  const keys = fc.oneof(
    fc.integer({ min: 0, max: 15 }).map(String),
    fc.constantFrom('x', '00', '9007199254740992'),
  )
  return fc.record({ endpoint: fc.constant(endpoint), key: keys, pairs, strangers, strange: fc.boolean() })
})

suite('any request to the API', () => {
  let stage: ApiStage
  before(async () => {
    stage = await openApiStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  test('gets an answer that fits its schema, or a fitting problem that echoes nothing', async () => {
    const seen = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(questions, async ({ endpoint, key, pairs, strangers, strange }) => {
        const query = [...pairs, ...(strange ? strangers : [])]
          .map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text.toWellFormed())}`)
          .join('&')
        const path = endpoint.path.replace(/\{\w+\}/, key)
        const response = await stage.get(query === '' ? path : `${path}?${query}`)
        const text = await response.text()
        seen.set(response.status, (seen.get(response.status) ?? 0) + 1)
        assert.ok([200, 400, 404].includes(response.status), `${response.status} for ${path}?${query}`)
        assert.equal(response.headers.get('access-control-allow-origin'), '*')
        assert.ok(!text.includes(MARK), text)
        if (response.status !== 200) {
          const problem = JSON.parse(text) as {
            code: keyof typeof PROBLEMS
            status: number
            errors?: { parameter: string; message: string }[]
          }
          const { code, status, errors = [] } = problem
          for (const { parameter, message } of errors) {
            assert.ok(
              message.startsWith(parameter === 'a parameter' ? 'A parameter ' : `\`${parameter}\` `),
              message,
            )
            assert.match(message, /[.?]$/)
          }
          assert.equal(PROBLEMS[code].status, status)
          assert.equal(response.status, status)
          return
        }
        const schema = resourceSchema(endpoint.answer)
        if (
          schema === undefined ||
          !(response.headers.get('content-type') ?? '').startsWith('application/json')
        )
          return
        const read = schema.safeParse(JSON.parse(text))
        assert.ok(read.success, `${path}?${query} ${JSON.stringify(read.error?.issues)}`)
      }),
      { numRuns: 600, endOnFailure: true },
    )
    assert.deepEqual(stage.reported, [])
    for (const status of [200, 400, 404])
      assert.ok((seen.get(status) ?? 0) > 20, `${status} came often enough`)
  })
})
