import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { type Endpoint, ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { isList } from '../../protocol/parameters.ts'
import type { ProblemCode } from '../../protocol/problem.ts'
import { COMMON_PROBLEMS, problemsOf } from './endpoint-problems.ts'

/** Queries that every endpoint with these parameters refuses. */
const QUESTIONS: readonly string[] = [
  'from=2026-10-02&to=2026-10-01',
  'from=2020-01-01&to=2026-10-01&bucket=minute',
  'from=2020-01-01&to=2026-10-01&tz=0',
  'from=2099-01-01&bucket=day',
  'from=2099-01-01&tz=0',
  'from=2099-01-01',
  'at=2099-01-01',
  'after=999999',
  'before=999999&order=desc',
  'checkpoint=witnessed',
]
/** Problems that need more than a URL: a closed month, too many streams, or a node that is behind. */
const OTHERWISE: ReadonlySet<ProblemCode> = new Set([
  'range-not-satisfiable',
  'too-many-streams',
  'stream-capacity',
  'too-many-exports',
  'export-capacity',
  'not-made',
  'behind',
])
/** Whether a problem needs more than a URL. `/waits` refuses a range only for a thousand contests. */
function isOtherwise({ id }: Endpoint, code: ProblemCode): boolean {
  return OTHERWISE.has(code) || (id === 'waits' && code === 'range-too-long')
}

const NOWHERE: Readonly<Record<string, string>> = {
  id: '999',
  seq: '999',
  file: '2020-01.jsonl.gz',
  type: 'nothing',
  level: '9',
  tile: '999',
}

let stage: ApiStage
before(async () => {
  stage = await openApiStage({ streams: true })
})
after(() => stage[Symbol.asyncDispose]())

/** Codes of an endpoint's problems for all of these queries and paths that apply to it. */
async function refusals({ path, parameters }: Endpoint): Promise<ReadonlySet<string>> {
  const names = parameters.map(({ name }) => name)
  const fill = (table: Readonly<Record<string, string>>): string =>
    path.replaceAll(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) => table[name] ?? '')
  const there = fill({
    id: '1',
    seq: '10',
    file: '2026-10.jsonl.gz',
    type: 'burn',
    level: '0',
    tile: '000.p/13',
  })
  const [single] = parameters.flatMap(({ name, form, example }) =>
    isList(form) ? [] : [`${name}=${example}`],
  )
  const fit = QUESTIONS.filter((one) =>
    [...new URLSearchParams(one).keys()].every((key) => names.includes(key)),
  )
  const asked = [
    there,
    `${there}?nothing=1`,
    ...(path.includes('{') ? [fill(NOWHERE)] : []),
    ...(single === undefined
      ? []
      : [`${there}?${single.replace(/=.*/, '=%21')}`, `${there}?${single}&${single}`]),
    ...fit.map((one) => `${there}?${one}`),
  ]
  const codes = await Promise.all(
    asked.map(async (address) => {
      const response = await fetch(`http://127.0.0.1:${stage.port}${address}`)
      if (!response.ok) return ((await response.json()) as { code: string }).code
      await response.body?.cancel()
      return []
    }),
  )
  return new Set(codes.flat())
}

suite('the described problems of an endpoint are those that it answers:', () => {
  for (const endpoint of ENDPOINTS) {
    test(endpoint.id, async () => {
      const named = problemsOf(endpoint).filter((code) => !isOtherwise(endpoint, code))
      const found = await refusals(endpoint)
      assert.deepEqual(
        [...found].toSorted(),
        [...new Set<string>([...named, 'unknown-parameter'])].toSorted(),
      )
      assert.ok(COMMON_PROBLEMS.includes('unknown-parameter'))
    })
  }
})
