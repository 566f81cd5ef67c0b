import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { fetchDescribed } from '../stage/described.ts'
import { ROOT, SAMPLE } from '../stage/places.ts'
import { type Service, startService } from '../stage/service.ts'

const run = promisify(execFile)

/** Program that a user writes with each client. Its types are checked, and it prints the answers. */
const SHARED = `
export type Found = Readonly<{
  seqs: readonly number[]
  next: string | null
  amounts: readonly (string | null)[]
  balance: string
  code: string
  parameter: string | undefined
}>
/** An answer that is not CSV. */
export function jsonOf<T>(answer: T | string | undefined): T {
  if (answer === undefined || typeof answer === 'string') throw new TypeError('the answer is no JSON')
  return answer
}
`
const PROGRAMS: Readonly<Record<string, string>> = {
  'openapi-fetch': `
import openClient from 'openapi-fetch'
import type { paths } from './openapi-types.ts'
import { jsonOf, type Found } from './found.ts'
const client = openClient<paths>({ baseUrl: process.argv[2] })
const query = { type: ['payout', 'burn'], contestId: [1, 2], limit: 5 } satisfies paths['/api/v1/events']['get']['parameters']['query']
const { data: page } = await client.GET('/api/v1/events', { params: { query } })
const { data: ledger } = await client.GET('/api/v1/contests/{id}/ledger', { params: { path: { id: 1 } } })
const { error } = await client.GET('/api/v1/events', { params: { query: { limit: 0 } } })
// @ts-expect-error: unknown type of event
void client.GET('/api/v1/events', { params: { query: { type: ['payed'] } } }).catch(() => undefined)
const { events, page: { next } } = jsonOf(page)
export const found: Found = {
  seqs: events.map(({ seq }) => seq), next, amounts: events.map(({ kots }) => kots),
  balance: jsonOf(ledger).pool.balance, code: error!.code, parameter: error!.errors?.[0]?.parameter,
}
console.log(JSON.stringify(found))
`,
  'hey-api': `
import { createClient } from './hey-api/client/index.ts'
import { contestLedger, events as eventsOf } from './hey-api/sdk.gen.ts'
import { jsonOf, type Found } from './found.ts'
const client = createClient({ baseUrl: process.argv[2] })
const { data: page } = await eventsOf({ client, query: { type: ['payout', 'burn'], contestId: [1, 2], limit: 5 } })
const { data: ledger } = await contestLedger({ client, path: { id: 1 } })
const { error } = await eventsOf({ client, query: { limit: 0 } })
// @ts-expect-error: unknown type of event
void eventsOf({ client, query: { type: ['payed'] } })
const { events, page: { next } } = jsonOf(page)
export const found: Found = {
  seqs: events.map(({ seq }) => seq), next, amounts: events.map(({ kots }) => kots),
  balance: jsonOf(ledger).pool.balance, code: error!.code, parameter: error!.errors?.[0]?.parameter,
}
console.log(JSON.stringify(found))
`,
  orval: `
import { contestLedger, events as eventsOf } from './orval.ts'
import { jsonOf, type Found } from './found.ts'
const answer = await eventsOf({ type: ['payout', 'burn'], contestId: [1, 2], limit: 5 })
const ledger = await contestLedger(1)
const refused = await eventsOf({ limit: 0 })
// @ts-expect-error: unknown type of event
void eventsOf({ type: ['payed'] })
if (answer.status !== 200 || ledger.status !== 200 || refused.status !== 400) throw new Error('a status is wrong')
const { events, page: { next } } = jsonOf(answer.data)
const { code, errors } = refused.data
export const found: Found = {
  seqs: events.map(({ seq }) => seq), next, amounts: events.map(({ kots }) => kots),
  balance: jsonOf(ledger.data).pool.balance, code, parameter: errors?.[0]?.parameter,
}
console.log(JSON.stringify(found))
`,
}

const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const STRICT = [
  '--noEmit',
  '--strict',
  '--module',
  'esnext',
  '--moduleResolution',
  'bundler',
  '--target',
  'es2022',
]
const OPTIONS = [...STRICT, '--allowImportingTsExtensions', '--skipLibCheck', '--types', 'node']

suite('clients that others generate from /openapi.json', () => {
  let folder = ''
  let service: Service | undefined
  before(async () => {
    service = await startService({ drafts: SAMPLE })
    folder = await mkdtemp(join(tmpdir(), 'daybook-generated-'))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}\n')
    await writeFile(join(folder, 'found.ts'), SHARED)
    const document = await fetch(`${service.url}/api/v1/openapi.json`)
    await writeFile(join(folder, 'openapi.json'), await document.text())
    const generator = join(ROOT, 'test', 'contract', 'generate-clients.ts')
    await run(process.execPath, [generator, join(folder, 'openapi.json'), folder, service.url])
    for (const [name, text] of Object.entries(PROGRAMS)) await writeFile(join(folder, `use-${name}.ts`), text)
  })
  after(async () => {
    await service?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  test('have the types of lists, pages, amounts that may be null, ledgers and problems', async () => {
    const files = Object.keys(PROGRAMS).map((name) => join(folder, `use-${name}.ts`))
    const { stdout } = await run(process.execPath, [TSC, ...OPTIONS, ...files], { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    )
    assert.equal(stdout, '')
  })

  for (const name of Object.keys(PROGRAMS)) {
    test(`get the same answers as fetch: ${name}`, async () => {
      const url = service?.url ?? ''
      const { stdout } = await run(process.execPath, [join(folder, `use-${name}.ts`), url])
      const path = '/api/v1/events?type=payout&type=burn&contestId=1&contestId=2&limit=5'
      const page = (await (await fetchDescribed(`${url}${path}`)).json()) as {
        events: { seq: number; kots: string | null }[]
        page: { next: string | null }
      }
      const ledger = (await (await fetchDescribed(`${url}/api/v1/contests/1/ledger`)).json()) as {
        pool: { balance: string }
      }
      assert.equal(page.events.length, 5)
      assert.deepEqual(JSON.parse(stdout), {
        seqs: page.events.map(({ seq }) => seq),
        next: page.page.next,
        amounts: page.events.map(({ kots }) => kots),
        balance: ledger.pool.balance,
        code: 'invalid-parameter',
        parameter: 'limit',
      })
    })
  }
})
