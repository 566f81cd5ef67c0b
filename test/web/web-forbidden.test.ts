import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { base58 } from '@scure/base'
import { ENDPOINTS } from '../../src/protocol/endpoints/endpoints.ts'
import { PAGES } from '../../src/web/pages/pages.ts'
import { pagePath } from '../../src/web/frame/page-routes.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'

const SOLANA = base58.encode(new Uint8Array(32).fill(7))
const EVM = `0x${'ab'.repeat(20)}`
const BECH32 = 'bc1pfeessrawgf'
const ADDRESSES = [SOLANA, EVM, BECH32] as const

let stage: ApiStage
before(async () => {
  stage = await openApiStage({ streams: true })
})
after(() => stage[Symbol.asyncDispose]())

type Answer = Readonly<{ status: number; said: string }>

/** An answer and its headers, percent-decoded. */
async function answerOf(path: string): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${stage.port}${path}`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(60_000),
  })
  const said = `${JSON.stringify([...response.headers])}\n${await response.text()}`
  return { status: response.status, said: decodeURIComponent(said.replaceAll(/%(?![0-9a-f]{2})/gi, '%25')) }
}

const FILL: Readonly<Record<string, string>> = { id: '1', seq: '1', type: 'burn', file: '2026-10.jsonl.gz' }
const filled = (path: string): string =>
  path.replaceAll(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) => FILL[name] ?? '0')

/** Every path with query parameters: API, pages and their formats, feeds and calendars. */
const ASKED: readonly string[] = [
  ...new Set([
    ...ENDPOINTS.map(({ path }) => filled(path)),
    ...PAGES.map((page) => filled(pagePath(page))).filter((path) => path !== '/find'),
    '/flows.csv',
    '/flows.json',
    '/flows.svg',
    '/flows.metadata.json',
    '/events.csv',
    '/payouts.csv',
    '/feed.atom',
    '/schedule.ics',
    '/payouts.ics',
    '/contests/1',
    '/tx/transaction-0001',
    '/api.md',
    '/sitemap.xml',
  ]),
]
const NAMES = [
  'kind',
  'tx',
  'contestId',
  'limit',
  'from',
  'type',
  'bucket',
  'q',
  'status',
  'endpoint',
  'theme',
]

suite('a wallet address in a query', () => {
  for (const [index, path] of ASKED.entries()) {
    test(`is refused and not repeated: ${path}`, async () => {
      // Some chains have transaction ids of 32 bytes, like addresses.
      // A third of the names for each path, so that each name is asked of a third of the paths.
      const names = NAMES.filter((_, at) => (at + index) % 3 === 0)
      const queries = names.flatMap((name) =>
        ADDRESSES.filter((address) => name !== 'tx' || address !== SOLANA).map((one) => [
          one,
          `${name}=${one}`,
        ]),
      )
      queries.push([SOLANA, SOLANA], [EVM, `${EVM}=1`], [BECH32, `${BECH32}=1`], [EVM, `unknown=${EVM}`])
      queries.push([EVM, `kind=&tx=${EVM}`], [EVM, `tx=%ZZ${EVM}`], [EVM, `kind=a&kind=${EVM}`])
      queries.push(
        [EVM, `kind=${encodeURIComponent(`to ${EVM}`)}`],
        [EVM, `limit=1&limit=%2530x${EVM.slice(2)}`],
      )
      for (const [address = '', query = ''] of queries) {
        const { status, said } = await answerOf(`${path}?${query}`)
        assert.equal(status, 400, query)
        assert.ok(!said.includes(address), `${query}: ${said.slice(0, 300)}`)
      }
    })
  }

  test('is reported before other errors', async () => {
    const { said } = await answerOf(`/api/v1/events?limit=0&kind=${BECH32}`)
    const problem = JSON.parse(said.split('\n')[1] ?? '') as {
      code: string
      errors: readonly Readonly<{ parameter: string }>[]
    }
    assert.equal(problem.code, 'address-forbidden')
    assert.deepEqual(
      problem.errors.map(({ parameter }) => parameter),
      ['limit', 'kind'],
    )
  })

  test('is repeated only by /find, in its own field', async () => {
    for (const address of ADDRESSES) {
      const { status, said } = await answerOf(`/find?q=${address}`)
      assert.equal(status, 200)
      assert.equal(said.split(address).length, 2, said)
      assert.ok(said.includes(`value="${address}"`))
      for (const query of [`q=${address}&x=1`, `q=${address}&x=`, `q=a&q=${address}`]) {
        assert.ok(!(await answerOf(`/find?${query}`)).said.includes(address), query)
      }
    }
  })

  test('is refused on an opaque chain only if `0x` or a checksum proves it', async () => {
    assert.equal((await answerOf(`/events?tx=${EVM}`)).status, 400)
    assert.equal((await answerOf(`/events?tx=${BECH32}`)).status, 400)
    assert.equal((await answerOf(`/events?tx=${SOLANA}`)).status, 200)
    assert.equal((await answerOf(`/events?tx=${'ab'.repeat(32)}`)).status, 200)
  })
})

suite('a wallet address in a path', () => {
  const PATHS = [
    ...ENDPOINTS.filter(({ path }) => path.includes('{')).flatMap(({ path }) => [
      path,
      path.replace('/api/v1', ''),
    ]),
    '/events/{id}.json',
    '/events/{id}.csv',
    '/events/{id}.metadata.json',
    '/contests/{id}.json',
    '/contests/{id}.svg',
    '/contests/{id}/ledger.json',
    '/contests/{id}/ledger.csv',
    '/contests/{id}/ledger.svg',
    '/contests/{id}/ledger?limit=x',
    '/contests/{id}/ledger?format=x',
    '/events/{id}?format=csv',
    '/contests/{id}/ledger?x=',
    '/tx/{id}',
    '/{id}',
    '/assets/{id}',
    '/{id}.json',
  ]
  for (const path of PATHS) {
    test(`is not repeated: ${path}`, async () => {
      for (const address of ADDRESSES) {
        const { said } = await answerOf(
          path.replace(/\{\w+(?:\.\.\.)?\}/, address).replaceAll(/\{\w+\}/g, '0'),
        )
        assert.ok(!said.includes(address), said.slice(0, 400))
      }
    })
  }
})
