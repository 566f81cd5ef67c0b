import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { pagePath } from '../../src/web/frame/page-routes.ts'
import { PAGES } from '../../src/web/pages/pages.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { textOf } from '../stage/document.ts'
import { ADDRESSES } from './parity/web-addresses.ts'
import { THEMES } from '../../src/web/charts/chart-picture.ts'

type About = Readonly<{
  api: string
  csv: string | null
  asOf: unknown
  columns: readonly string[] | null
  rows: number | null
  complete: boolean | null
  next: string | null
}>

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const bodyOf = async (path: string): Promise<string> => (await stage.get(path)).text()
const jsonOf = async <Answer>(path: string): Promise<Answer> => JSON.parse(await bodyOf(path)) as Answer

/** `/flows.csv?bucket=day` for `/flows?bucket=day`. */
function suffixed(address: string, suffix: string): string {
  const [path = '', query] = address.split('?')
  return `${path === '/' ? '/summary' : path}${suffix}${query === undefined ? '' : `?${query}`}`
}

/** Metadata of each part of an export, from the first to the last. */
async function partsOf(address: string): Promise<readonly About[]> {
  const parts: About[] = []
  let at: string | null = address
  while (at !== null) {
    const about: About = await jsonOf<About>(suffixed(at, '.metadata.json'))
    parts.push(about)
    at = about.next === null ? null : about.next.replace('/api/v1', '')
  }
  return parts
}

const alone = new Set(PAGES.filter(({ endpoint }) => endpoint === null).map(pagePath))

/** An answer without the moment of the present. */
function withoutPresent(answer: Readonly<{ now?: object | null }>): unknown {
  return { ...answer, now: { ...answer.now, at: null, atMs: null } }
}

suite('the metadata of each export', () => {
  const exported = ADDRESSES.filter((one) => one !== '/' && !alone.has(one.split('?')[0] ?? ''))
  for (const address of [...exported, '/events?details=1']) {
    test(`of ${address} has the state, the columns, and the addresses of JSON and CSV`, async () => {
      const about = await jsonOf<About>(suffixed(address, '.metadata.json'))
      const answer = await jsonOf<{ asOf?: unknown; next?: string | null; now?: object | null }>(
        `/api/v1${address}`,
      )
      assert.deepEqual(about.asOf, answer.asOf ?? null)
      // The address of the JSON names the range, so its answer does not depend on the present.
      assert.deepEqual(withoutPresent(await jsonOf(about.api)), withoutPresent(answer))
      assert.equal(about.complete === null, about.csv === null)
      if (about.csv === null) return
      const [header] = (await bodyOf(about.csv)).split('\r\n')
      assert.deepEqual(header?.split(','), about.columns)
      if (answer.next !== undefined) assert.equal(about.next, answer.next)
    })
  }

  for (const [whole, part] of [
    ['/contests', '/contests?limit=1'],
    ['/payouts', '/payouts?limit=1'],
    ['/events', '/events?limit=4'],
    ['/events?order=desc', '/events?order=desc&limit=4'],
  ] as const) {
    test(`of ${part} says that it is incomplete and names the next part, up to all rows of ${whole}`, async () => {
      const [first, ...others] = await partsOf(part)
      assert.ok(first !== undefined && others.length > 0)
      const parts = [first, ...others]
      for (const { complete, next } of parts) assert.equal(complete, next === null)
      const [all] = await partsOf(whole)
      assert.equal(all?.complete, true)
      assert.equal(
        parts.reduce((rows, about) => rows + (about.rows ?? 0), 0),
        all.rows,
      )
      const linesOf = async ({ csv }: About): Promise<readonly string[]> =>
        (await bodyOf(csv ?? '')).trimEnd().split('\r\n').slice(1)
      const read: string[] = []
      for (const about of parts) read.push(...(await linesOf(about)))
      assert.deepEqual(read, await linesOf(all))
    })
  }
})

suite('docs/pages.md names', () => {
  const said = textOf('docs/pages.md')
  for (const [form, address, type] of [
    ['/feed.atom', '/feed.atom', /^application\/atom\+xml/],
    ['/schedule.ics', '/schedule.ics', /^text\/calendar/],
    ['/payouts.ics', '/payouts.ics', /^text\/calendar/],
  ] as const) {
    test(`${form}, which exists`, async () => {
      assert.ok(said.includes(`\`${form}`))
      const response = await stage.get(address)
      assert.equal(response.status, 200)
      assert.match(response.headers.get('content-type') ?? '', type)
    })
  }

  test('exactly the themes of pictures', async () => {
    const [, named = ''] = /`theme` is ([^.]*)\./.exec(said) ?? []
    assert.deepEqual(
      [...named.matchAll(/`(\w+)`/g)].map(([, theme]) => theme),
      THEMES,
    )
    for (const theme of THEMES) assert.equal((await stage.get(`/flows.svg?theme=${theme}`)).status, 200)
    assert.equal((await stage.get('/flows.svg?theme=pink')).status, 400)
  })
})
